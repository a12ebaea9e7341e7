package import FoundationEssentials
package import HTTPTransport
package import PushModel

/// Reads what FCM answered.
package enum FCMOutcome {
    /// Never fails: an answer that is no JSON, or says what no one knows, is classified by its status.
    package static func read(status: Int, headers: [String: String] = [:], body: [UInt8] = [], now: Date) -> SendOutcome
    {
        let answer = try? JSONDecoder().decode(FCMAnswer.self, from: Data(body))
        if status == 200 {
            return .accepted(providerID: answer?.name.flatMap(Self.messageName))
        }
        let code = answer?.errorCode
        let row = FCMReaction.table.first { $0.status == status && $0.code == code }
        return (row?.reaction ?? FCMReaction.byStatus(status)).outcome(
            status: status, answer: answer,
            retryAfter: headers["retry-after"].flatMap { RetryAfter.parse($0, now: now) },
            beginning: answer == nil ? Self.beginning(of: body) : nil)
    }

    /// The end of one request, answered or not.
    package static func read(_ result: Result<HTTPAnswer, HTTPFailure>, now: Date) -> SendOutcome {
        switch result {
        case .success(let answer):
            return Self.read(status: answer.status, headers: answer.headers, body: answer.body, now: now)
        case .failure(let failure):
            switch failure.fate {
            case .notSent: return .retry(.init(reason: failure.reason, scope: .host, countsAsAttempt: false))
            case .unknown: return .unknown(reason: failure.reason)
            }
        }
    }

    /// What an `INVALID_ARGUMENT` that seemed to name the token was, now that a bare validation of the same token has
    /// been answered: no structured field tells the two apart for certain, and words alone kill no token.
    package static func afterValidation(_ validation: SendOutcome, of first: SendOutcome) -> SendOutcome {
        guard case .badDeviceToken(let reason) = first else { return first }
        switch validation {
        // The token is good, so it was the payload.
        case .accepted: return .rejected(reason: reason)
        case .deviceDead, .badDeviceToken: return .deviceDead(reason: reason, since: nil)
        case .rejected: return .rejected(reason: reason)
        // No answer to the question: the delivery waits like any other.
        case .retry, .misconfigured, .unknown: return validation
        }
    }

    /// `projects/<project>/messages/<id>`, at most 200 bytes; what is no printable ASCII becomes `_`.
    private static func messageName(_ text: String) -> String? {
        let bytes = text.utf8.prefix(200).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "_") }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The first 120 bytes of an answer that is not FCM's, for the operator: a proxy's page names itself there.
    private static func beginning(of body: [UInt8]) -> String? {
        guard !body.isEmpty else { return nil }
        let bytes = body.prefix(120).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: " ") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
