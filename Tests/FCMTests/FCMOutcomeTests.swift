import FoundationEssentials
import HTTPTransport
import PushModel
import TestSupport
import Testing

@testable import FCM

private let fcmError = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
private let errorInfo = "type.googleapis.com/google.rpc.ErrorInfo"
private let badRequest = "type.googleapis.com/google.rpc.BadRequest"
private let quotaFailure = "type.googleapis.com/google.rpc.QuotaFailure"

/// An error in Google's shape.
private func error(_ code: Int, _ status: String, message: String = "m", details: [String] = []) -> String {
    """
    {"error":{"code":\(code),"message":"\(message)","status":"\(status)","details":[\(details.joined(separator: ","))]}}
    """
}

private func detail(_ type: String, _ members: String) -> String {
    "{\"@type\":\"\(type)\",\(members)}"
}

@Suite struct FCMOutcomeTests {
    private func read(_ status: Int, _ body: String, headers: [String: String] = [:]) -> SendOutcome {
        FCMOutcome.read(status: status, headers: headers, body: Array(body.utf8), now: Sample.now)
    }

    private static func code(_ code: String) -> String { detail(fcmError, "\"errorCode\":\"\(code)\"") }

    private static func field(_ name: String) -> String {
        detail(badRequest, "\"fieldViolations\":[{\"field\":\"\(name)\",\"description\":\"d\"}]")
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        var name: String
        var status: Int
        var body: String
        var outcome: SendOutcome

        init(_ name: String, _ status: Int, _ body: String, _ outcome: SendOutcome) {
            self.name = name
            self.status = status
            self.body = body
            self.outcome = outcome
        }

        var testDescription: String { self.name }
    }

    /// The answers seen in the wild that are final.
    static let answers: [Answer] = [
        Answer(
            "accepted", 200, "{\n  \"name\": \"projects/p/messages/0:17%ab\"\n}\n",
            .accepted(providerID: "projects/p/messages/0:17%ab")),
        Answer("accepted, nothing said", 200, "", .accepted(providerID: nil)),
        Answer("accepted, something else said", 200, "{\"name\":7}", .accepted(providerID: nil)),
        Answer(
            "no such token", 404,
            error(404, "NOT_FOUND", message: "Requested entity was not found.", details: [code("UNREGISTERED")]),
            .deviceDead(reason: "UNREGISTERED", since: nil)),
        Answer(
            "of another project", 403,
            error(403, "PERMISSION_DENIED", message: "SenderId mismatch", details: [code("SENDER_ID_MISMATCH")]),
            .deviceDead(reason: "SENDER_ID_MISMATCH", since: nil)),
        Answer(
            "the code comes last", 404,
            error(
                404, "NOT_FOUND", details: [field("x"), detail(errorInfo, "\"reason\":\"r\""), code("UNREGISTERED")]),
            .deviceDead(reason: "UNREGISTERED", since: nil)),
        Answer(
            "a token that is none, by the words", 400,
            error(
                400, "INVALID_ARGUMENT", message: "The registration token is not a valid FCM registration token",
                details: [code("INVALID_ARGUMENT")]),
            .badDeviceToken(reason: "INVALID_ARGUMENT")),
        Answer(
            "a token that is none, by the field", 400,
            error(
                400, "INVALID_ARGUMENT", message: "Request contains an invalid argument.",
                details: [code("INVALID_ARGUMENT"), field("message.token")]),
            .badDeviceToken(reason: "INVALID_ARGUMENT")),
        Answer(
            "a token that is none, by the field alone", 400,
            error(400, "INVALID_ARGUMENT", details: [field("message.token")]),
            .badDeviceToken(reason: "INVALID_ARGUMENT")),
        Answer(
            "an installation that is none", 400,
            error(400, "INVALID_ARGUMENT", details: [field("message.fid"), code("INVALID_ARGUMENT")]),
            .badDeviceToken(reason: "INVALID_ARGUMENT")),
        Answer(
            "a number in data", 400,
            error(
                400, "INVALID_ARGUMENT", message: "Invalid value at 'message.data[0].value' (TYPE_STRING), 12",
                details: [field("message.data[0].value")]),
            .rejected(reason: "INVALID_ARGUMENT message.data_0_.value")),
        Answer(
            "too big", 400, error(400, "INVALID_ARGUMENT", message: "Request contains an invalid argument."),
            .rejected(reason: "INVALID_ARGUMENT")),
        Answer(
            "a reserved key", 400,
            error(
                400, "INVALID_ARGUMENT", message: "Invalid data payload key: from", details: [code("INVALID_ARGUMENT")]),
            .rejected(reason: "INVALID_ARGUMENT")),
        Answer(
            "no recipient", 400,
            error(
                400, "INVALID_ARGUMENT", message: "Recipient of the message is not set.",
                details: [field("message"), code("INVALID_ARGUMENT")]),
            .rejected(reason: "INVALID_ARGUMENT message")),
        Answer("400 without a body", 400, "", .rejected(reason: "status_400")),
        Answer("413 by a proxy", 413, "<html>", .rejected(reason: "status_413")),
    ]

    @Test(arguments: answers)
    func readsWhatIsFinal(_ answer: Answer) {
        #expect(self.read(answer.status, answer.body) == answer.outcome)
    }

    // MARK: - Retries

    static let retries: [(name: String, status: Int, body: String, retryAfter: String?, expected: SendOutcome.Retry)] =
        [
            (
                "quota", 429, error(429, "RESOURCE_EXHAUSTED", details: [code("QUOTA_EXCEEDED")]), nil,
                .init(reason: "QUOTA_EXCEEDED", floor: .seconds(60), scope: .host)
            ),
            (
                "quota with a wait", 429, error(429, "RESOURCE_EXHAUSTED", details: [code("QUOTA_EXCEEDED")]), "17",
                .init(reason: "QUOTA_EXCEEDED", floor: .seconds(17), scope: .host)
            ),
            (
                "quota until a date", 429, error(429, "RESOURCE_EXHAUSTED", details: [code("QUOTA_EXCEEDED")]),
                "Sat, 14 Nov 2026 08:02:00 GMT", .init(reason: "QUOTA_EXCEEDED", floor: .seconds(120), scope: .host)
            ),
            (
                "quota with a wait that is none", 429, "", "soon",
                .init(reason: "status_429", floor: .seconds(60), scope: .host)
            ),
            (
                "quota of one device", 429,
                error(
                    429, "RESOURCE_EXHAUSTED",
                    details: [
                        detail(
                            quotaFailure, "\"violations\":[{\"subject\":\"device:x\",\"description\":\"Device rate\"}]"),
                        code("QUOTA_EXCEEDED"),
                    ]), nil, .init(reason: "QUOTA_EXCEEDED", floor: .seconds(60), scope: .device)
            ),
            (
                "internal", 500, error(500, "INTERNAL", details: [code("INTERNAL")]), nil,
                .init(reason: "INTERNAL", scope: .host)
            ),
            (
                "gateway", 502, "<html>try again in 30 seconds", nil,
                .init(reason: "status_502", floor: .seconds(30), scope: .host)
            ),
            (
                "overloaded", 503, error(503, "UNAVAILABLE", details: [code("UNAVAILABLE")]), "40",
                .init(reason: "UNAVAILABLE", floor: .seconds(40), scope: .host)
            ),
            (
                "overloaded, no wait", 503, error(503, "UNAVAILABLE", details: [code("UNAVAILABLE")]), nil,
                .init(reason: "UNAVAILABLE", scope: .host)
            ),
            ("gateway timeout", 504, "", nil, .init(reason: "status_504", scope: .host)),
            (
                "unspecified", 500, error(500, "INTERNAL", details: [code("UNSPECIFIED_ERROR")]), nil,
                .init(reason: "UNSPECIFIED_ERROR", scope: .host)
            ),
            ("request timeout", 408, "", nil, .init(reason: "status_408", scope: .device)),
        ]

    @Test(arguments: retries.indices)
    func readsWhatIsTriedAgain(_ index: Int) {
        let (name, status, body, retryAfter, expected) = Self.retries[index]
        let headers = retryAfter.map { ["retry-after": $0] } ?? [:]
        #expect(self.read(status, body, headers: headers) == .retry(expected), "\(name)")
    }

    @Test(arguments: [
        error(401, "UNAUTHENTICATED", details: [detail(errorInfo, "\"reason\":\"ACCESS_TOKEN_EXPIRED\"")]),
        error(401, "UNAUTHENTICATED", details: [detail(errorInfo, "\"reason\":\"CREDENTIALS_MISSING\"")]),
        error(401, "UNAUTHENTICATED"), "", "<html>",
    ])
    func aRefusedAccessTokenIsRenewedOnce(_ body: String) {
        guard case .retry(let retry) = self.read(401, body) else {
            Issue.record("not a retry")
            return
        }
        #expect(retry.renewal == .credential && !retry.countsAsAttempt && retry.scope == .provider)
        guard case .misconfigured(_, _, .provider) = self.read(401, body).repeatedAfterRenewal else {
            Issue.record("renewed for ever")
            return
        }
    }

    // MARK: - Configuration

    static let faults: [(status: Int, body: String, reason: String, fix: String, scope: SendOutcome.Scope)] = [
        (
            403, error(403, "PERMISSION_DENIED", details: [detail(errorInfo, "\"reason\":\"IAM_PERMISSION_DENIED\"")]),
            "IAM_PERMISSION_DENIED", "roles/firebasecloudmessaging.admin", .provider
        ),
        (
            403, error(403, "PERMISSION_DENIED", details: [detail(errorInfo, "\"reason\":\"SERVICE_DISABLED\"")]),
            "SERVICE_DISABLED", "enable the Firebase Cloud Messaging API", .provider
        ),
        (403, error(403, "PERMISSION_DENIED"), "PERMISSION_DENIED", "project id", .provider),
        (403, "", "status_403", "project id", .provider),
        (
            404, "<html>\n<title>Error 404 (Not Found)!!1</title>", "status_404", "<title>Error 404 (Not Found)",
            .provider
        ),
        (404, "", "status_404", "FCM_URL", .provider),
        (404, error(404, "NOT_FOUND"), "NOT_FOUND", "FCM_URL", .provider),
        (302, "", "status_302", "FCM_URL", .provider),
        // One Apple device among the Android ones must not stop them.
        (
            401,
            error(
                401, "UNAUTHENTICATED",
                details: [
                    code("THIRD_PARTY_AUTH_ERROR"),
                    detail(
                        "type.googleapis.com/google.firebase.fcm.v1.ApnsError",
                        "\"statusCode\":403,\"reason\":\"BadEnvironmentKeyInToken\""),
                ]), "THIRD_PARTY_AUTH_ERROR", "Firebase console", .device
        ),
        (
            401, error(401, "UNAUTHENTICATED", details: [code("APNS_AUTH_ERROR")]), "APNS_AUTH_ERROR", "Firebase",
            .device
        ),
    ]

    @Test(arguments: faults.indices)
    func aFaultOfConfigurationSaysWhatToDo(_ index: Int) {
        let (status, body, reason, fix, scope) = Self.faults[index]
        guard case .misconfigured(reason, let words, scope) = self.read(status, body) else {
            Issue.record("\(self.read(status, body))")
            return
        }
        #expect(words.contains(fix))
        #expect(words.utf8.count < 250)
    }

    // MARK: - What nobody knows

    /// No token dies of an answer that is not exactly the one that says so.
    @Test(arguments: [
        "", "null", "7", "[]", "{", "{}", "{\"error\":7}", "{\"error\":{}}", "{\"error\":{\"details\":{}}}",
        "{\"error\":{\"details\":[7,null,\"x\",[],{}]}}",
        "{\"error\":{\"details\":[{\"errorCode\":\"UNREGISTERED\"}]}}",
        "{\"error\":{\"status\":\"UNREGISTERED\",\"details\":[]}}", "<html>UNREGISTERED</html>",
        error(404, "NOT_FOUND", details: [detail(errorInfo, "\"errorCode\":\"UNREGISTERED\"")]),
        error(404, "NOT_FOUND", details: [code("BRAND_NEW")]),
        error(404, "NOT_FOUND", details: [code("UNSPECIFIED_ERROR")]),
        error(404, "NOT_FOUND", details: [detail(fcmError, "\"errorCode\":7")]),
        String(repeating: "[", count: 60_000),
    ])
    func garbageNeverKillsAToken(_ body: String) {
        for status in [0, -1, 204, 400, 401, 403, 404, 410, 429, 500, 502, 999] {
            switch self.read(status, body) {
            case .deviceDead, .badDeviceToken, .accepted: Issue.record("\(status) believed")
            default: break
            }
        }
        _ = FCMOutcome.read(status: 404, body: [0xFF, 0x00, 0x80], now: Sample.now)
    }

    @Test(arguments: [400, 401, 403, 500])
    func anotherStatusIsAnotherAnswer(_ status: Int) {
        let body = error(status, "NOT_FOUND", details: [Self.code("UNREGISTERED")])
        if case .deviceDead = self.read(status, body) { Issue.record("\(status) believed") }
    }

    /// A garbled neighbour does not hide the code.
    @Test func oddDetailsDoNotHideTheCode() {
        let body = "{\"error\":{\"details\":[7,null,{\"@type\":3},\(Self.code("UNREGISTERED"))]}}"
        #expect(self.read(404, body) == .deviceDead(reason: "UNREGISTERED", since: nil))
    }

    @Test func theTableHasNoPairTwice() {
        let pairs = FCMReaction.table.map { "\($0.status) \($0.code ?? "-")" }
        #expect(Set(pairs).count == pairs.count)
    }

    // MARK: - Validation

    @Test func wordsAloneKillNoToken() {
        let first = SendOutcome.badDeviceToken(reason: "INVALID_ARGUMENT")
        let dead = SendOutcome.deviceDead(reason: "INVALID_ARGUMENT", since: nil)
        let later = SendOutcome.retry(.init(reason: "UNAVAILABLE", scope: .host))
        let expected: [(SendOutcome, SendOutcome)] = [
            (.accepted(providerID: "projects/p/messages/fake_message_id"), .rejected(reason: "INVALID_ARGUMENT")),
            (first, dead), (.deviceDead(reason: "UNREGISTERED", since: nil), dead),
            (.rejected(reason: "INVALID_ARGUMENT"), .rejected(reason: "INVALID_ARGUMENT")),
            (later, later), (.unknown(reason: "timeout"), .unknown(reason: "timeout")),
        ]
        for (validation, outcome) in expected {
            #expect(FCMOutcome.afterValidation(validation, of: first) == outcome, "\(validation)")
        }
        #expect(FCMOutcome.afterValidation(first, of: later) == later)
    }

    @Test func aFailureOfTheTransportIsNotSentOrUnknown() {
        let refused = FCMOutcome.read(.failure(HTTPFailure(fate: .notSent, reason: "connect")), now: Sample.now)
        #expect(refused == .retry(.init(reason: "connect", scope: .host, countsAsAttempt: false)))
        let lost = FCMOutcome.read(.failure(HTTPFailure(fate: .unknown, reason: "timeout")), now: Sample.now)
        #expect(lost == .unknown(reason: "timeout"))
        let answer = HTTPAnswer(status: 200, body: Array("{\"name\":\"n\"}".utf8))
        #expect(FCMOutcome.read(.success(answer), now: Sample.now) == .accepted(providerID: "n"))
    }

    @Test func theNameOfAMessageIsPrintable() {
        #expect(self.read(200, #"{"name":"p\u0000\n \u202ex/é"}"#) == .accepted(providerID: "p______x/__"))
        #expect(self.read(200, #"{"name":""}"#) == .accepted(providerID: nil))
        let endless = "e" + String(repeating: "\u{301}", count: 10_000)
        #expect(
            self.read(200, "{\"name\":\"\(endless)\"}")
                == .accepted(providerID: "e" + String(repeating: "_", count: 199)))
    }
}
