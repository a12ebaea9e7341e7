import PushModel

/// Every answer FCM documents, and what we make of it: `protocol.md` B.5 and B.6. The key is the pair of status and
/// FcmError code; nil: an answer without one.
struct FCMReaction {
    var status: Int
    var code: String?
    var reaction: Reaction

    enum Reaction: Equatable {
        case deviceDead
        /// ``deviceDead`` if a validation confirms it where the answer names the token, else our fault.
        case invalidArgument
        case rejected
        case credential
        case permission
        case notFound
        case foreignCredential
        case quota
        case retry(floor: Duration? = nil, scope: SendOutcome.Scope)
        case unknown
    }

    init(_ status: Int, _ code: String?, _ reaction: Reaction) {
        self.status = status
        self.code = code
        self.reaction = reaction
    }

    static let table: [FCMReaction] = [
        FCMReaction(400, "INVALID_ARGUMENT", .invalidArgument),
        FCMReaction(400, nil, .invalidArgument),
        FCMReaction(401, nil, .credential),
        FCMReaction(401, "THIRD_PARTY_AUTH_ERROR", .foreignCredential),
        FCMReaction(401, "APNS_AUTH_ERROR", .foreignCredential),
        FCMReaction(403, "SENDER_ID_MISMATCH", .deviceDead),
        FCMReaction(403, nil, .permission),
        FCMReaction(404, "UNREGISTERED", .deviceDead),
        FCMReaction(404, nil, .notFound),
        FCMReaction(429, "QUOTA_EXCEEDED", .quota),
        FCMReaction(500, "INTERNAL", .retry(scope: .host)),
        // The page of Google's gateway says "try again in 30 seconds".
        FCMReaction(502, nil, .retry(floor: .seconds(30), scope: .host)),
        FCMReaction(503, "UNAVAILABLE", .retry(scope: .host)),
    ]

    /// For a code nobody knows, `UNSPECIFIED_ERROR`, or a known one with another status: never a dead token.
    static func byStatus(_ status: Int) -> Reaction {
        switch status {
        case 401: .credential
        case 403, 407: .permission
        case 300..<400, 404: .notFound
        case 408: .retry(scope: .device)
        case 429: .quota
        case 400..<500: .rejected
        case 500..<600: .retry(scope: .host)
        default: .unknown
        }
    }
}

extension FCMReaction.Reaction {
    func outcome(status: Int, answer: FCMAnswer?, retryAfter: Duration?, beginning: String?) -> SendOutcome {
        let words = [answer?.errorCode, answer?.errorInfoReason, answer?.error?.status]
        let reason = words.compactMap { $0.flatMap(ReasonText.word) }.first ?? ReasonText.status(status)
        switch self {
        case .deviceDead:
            return .deviceDead(reason: reason, since: nil)
        case .invalidArgument:
            if answer?.namesToken == true { return .badDeviceToken(reason: reason) }
            return Self.rejected(reason, answer)
        case .rejected:
            return Self.rejected(reason, answer)
        case .credential:
            return .retry(
                SendOutcome.Retry(
                    reason: reason, floor: retryAfter, scope: .provider, countsAsAttempt: false, renewal: .credential,
                    fixIfRepeated:
                        "FCM refuses a fresh access token: check GOOGLE_APPLICATION_CREDENTIALS and the clock"))
        case .permission:
            return .misconfigured(reason: reason, fix: Self.permissionFix(reason), scope: .provider)
        case .notFound:
            let seen = beginning.map { "; the answer begins: \($0)" } ?? ""
            return .misconfigured(
                reason: reason, fix: "check FCM_URL and the project id: there is no FCM at that address\(seen)",
                scope: .provider)
        case .foreignCredential:
            return .misconfigured(
                reason: reason,
                fix:
                    "the address belongs to an Apple device or a browser: repair that credential in the Firebase console",
                // One such address must not stop all others.
                scope: .device)
        case .quota:
            // Without a Retry-After Google asks for a minute.
            return .retry(
                SendOutcome.Retry(
                    reason: reason, floor: retryAfter ?? .seconds(60),
                    scope: answer?.isDeviceQuota == true ? .device : .host))
        case .retry(let floor, let scope):
            return .retry(SendOutcome.Retry(reason: reason, floor: retryAfter ?? floor, scope: scope))
        case .unknown:
            return .unknown(reason: reason)
        }
    }

    /// With the field that was wrong, which is what a developer asks first.
    private static func rejected(_ reason: String, _ answer: FCMAnswer?) -> SendOutcome {
        .rejected(
            reason: [reason, answer?.wrongField.flatMap(ReasonText.word)].compactMap { $0 }.joined(separator: " "))
    }

    private static func permissionFix(_ reason: String) -> String {
        switch reason {
        case "SERVICE_DISABLED": "enable the Firebase Cloud Messaging API in the project"
        case "IAM_PERMISSION_DENIED":
            "give the service account the role roles/firebasecloudmessaging.admin in the project"
        default:
            "check the project id, the role roles/firebasecloudmessaging.admin and that the FCM API is enabled"
        }
    }
}
