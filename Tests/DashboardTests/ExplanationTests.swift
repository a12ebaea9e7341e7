import PushModel
import Testing

@testable import Dashboard

struct ExplanationTests {
    @Test(arguments: FanoutDecision.allCases) func `every decision is explained`(decision: FanoutDecision) {
        #expect(Explanation.decision(named: decision.rawValue) == Explanation.decision(decision))
        expectSentence(Explanation.decision(decision))
    }

    @Test(arguments: DeliveryReason.allCases) func `every reason of ours is explained`(reason: DeliveryReason) {
        #expect(Explanation.reason(named: reason.rawValue) == Explanation.reason(reason))
        expectSentence(Explanation.reason(reason))
    }

    @Test(arguments: DeliveryState.allCases) func `every state is explained`(state: DeliveryState) {
        expectSentence(Explanation.state(state))
    }

    /// `protocol.md` A.8 and B.5, and what libcurl's codes become.
    @Test(arguments: [
        "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
        "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
        "MissingTopic", "PayloadEmpty", "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment",
        "ExpiredProviderToken", "Forbidden", "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken",
        "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "BadPath", "MethodNotAllowed", "ExpiredToken",
        "Unregistered", "PayloadTooLarge", "TooManyProviderTokenUpdates", "TooManyRequests", "InternalServerError",
        "ServiceUnavailable", "Shutdown", "INVALID_ARGUMENT", "THIRD_PARTY_AUTH_ERROR", "SENDER_ID_MISMATCH",
        "UNREGISTERED", "QUOTA_EXCEEDED", "INTERNAL", "UNAVAILABLE", "APNS_AUTH_ERROR", "UNSPECIFIED_ERROR",
        "IAM_PERMISSION_DENIED", "SERVICE_DISABLED", "UNAUTHENTICATED", "name_not_resolved", "connect_failed",
        "connect_timed_out", "timed_out", "certificate_refused", "tls_failed", "connection_lost", "http2_error",
        "stream_reset", "shut_down", "token_empty", "token_not_hexadecimal", "status_404",
        "token_endpoint_invalid_grant",
        "provider_paused", "key_cannot_sign", "libcurl_89",
    ])
    func `every documented reason is explained`(name: String) {
        let explanation = Explanation.reason(named: name)
        #expect(explanation.title != name)
        expectSentence(explanation)
    }

    @Test(arguments: [
        "accepted", "retry", "device_dead", "bad_device_token", "rejected", "misconfigured", "unknown", "refused",
        "cancelled", "discarded", "retried",
    ])
    func `every outcome is explained`(name: String) {
        #expect(Explanation.outcome(named: name).title != name)
    }

    @Test func `a field that was wrong is named`() {
        #expect(Explanation.reason(named: "INVALID_ARGUMENT message.data").meaning.contains("message.data"))
    }

    @Test func `a word nobody knows explains itself`() {
        #expect(Explanation.reason(named: "NewReason").title == "NewReason")
        #expect(Explanation.decision(named: "postponed").title == "postponed")
        #expect(Explanation.outcome(named: "x").title == "x")
    }

    private func expectSentence(_ explanation: Explanation) {
        #expect(!explanation.title.isEmpty && explanation.title.first?.isUppercase == true)
        for sentence in [explanation.meaning, explanation.advice].compactMap(\.self) {
            #expect(sentence.hasSuffix(".") || sentence.hasSuffix(";"), "\(sentence)")
            #expect(sentence.first?.isUppercase == true || sentence.first?.isASCII == false, "\(sentence)")
        }
    }
}
