import PushModel

import struct FoundationEssentials.Date

/// Every answer APNs documents, and what we make of it: `protocol.md` A.8 (meanings: Apple's "Handling notification
/// responses from APNs"). The pair of status and reason is the key.
struct APNSReaction {
    var status: Int
    var reason: String
    var reaction: Reaction

    enum Reaction: Equatable {
        case deviceDead
        case badDeviceToken
        case rejected
        case misconfigured(fix: String, scope: SendOutcome.Scope = .provider)
        case retry(
            floor: Duration? = nil, scope: SendOutcome.Scope, counts: Bool = true,
            renewal: SendOutcome.Retry.Renewal = .none, fixIfRepeated: String? = nil)
        case unknown
    }

    init(_ status: Int, _ reason: String, _ reaction: Reaction) {
        self.status = status
        self.reason = reason
        self.reaction = reaction
    }

    static let table: [APNSReaction] = [
        APNSReaction(400, "BadCollapseId", .rejected),
        APNSReaction(400, "BadDeviceToken", .badDeviceToken),
        APNSReaction(400, "BadExpirationDate", .rejected),
        APNSReaction(400, "BadMessageId", .rejected),
        APNSReaction(400, "BadPriority", .rejected),
        APNSReaction(400, "BadTopic", .misconfigured(fix: "set APNS_TOPIC to the app's bundle id")),
        APNSReaction(400, "DeviceTokenNotForTopic", .deviceDead),
        APNSReaction(400, "DuplicateHeaders", .rejected),
        APNSReaction(400, "IdleTimeout", .retry(scope: .device, renewal: .connection)),
        APNSReaction(400, "InvalidPushType", .rejected),
        APNSReaction(400, "MissingDeviceToken", .rejected),
        APNSReaction(400, "MissingTopic", .misconfigured(fix: "set APNS_TOPIC to the app's bundle id")),
        APNSReaction(400, "PayloadEmpty", .rejected),
        APNSReaction(
            400, "TopicDisallowed",
            .misconfigured(
                fix:
                    "let the key push to APNS_TOPIC in Apple's developer account, or correct APNS_TOPIC; then resume apns"
            )
        ),
        APNSReaction(
            403, "BadCertificate",
            .misconfigured(fix: "check that APNS_URL leads to Apple and nothing on the way adds a client certificate")),
        APNSReaction(
            403, "BadCertificateEnvironment",
            .misconfigured(
                fix: "check that APNS_URL leads to Apple and nothing on the way adds a client certificate", scope: .host
            )),
        APNSReaction(
            403, "ExpiredProviderToken",
            .retry(
                scope: .provider, counts: false, renewal: .credential,
                fixIfRepeated: "set this machine's clock: APNs calls a fresh provider token older than an hour")),
        APNSReaction(
            403, "Forbidden", .misconfigured(fix: "check in Apple's developer account what the key APNS_KEY_ID may do")),
        APNSReaction(
            403, "InvalidProviderToken",
            .misconfigured(fix: "check that APNS_KEY, APNS_KEY_ID and APNS_TEAM_ID belong together, and the clock")),
        APNSReaction(403, "MissingProviderToken", .rejected),
        APNSReaction(
            403, "UnrelatedKeyIdInToken",
            .retry(
                scope: .host, counts: false, renewal: .connection,
                fixIfRepeated: "check that APNS_KEY_ID names the key in APNS_KEY and that all workers use that key")),
        // Documented by the first name, seen on the wire by the second.
        APNSReaction(
            403, "BadEnvironmentKeyIdInToken",
            .misconfigured(fix: "use an APNS_KEY for this environment, or one for both", scope: .host)),
        APNSReaction(
            403, "BadEnvironmentKeyInToken",
            .misconfigured(fix: "use an APNS_KEY for this environment, or one for both", scope: .host)),
        APNSReaction(404, "BadPath", .rejected),
        APNSReaction(405, "MethodNotAllowed", .rejected),
        APNSReaction(410, "ExpiredToken", .deviceDead),
        APNSReaction(410, "Unregistered", .deviceDead),
        APNSReaction(413, "PayloadTooLarge", .rejected),
        // The provider token is kept: a new one would make it worse. Twenty minutes: the least age at which it may be
        // replaced.
        APNSReaction(
            429, "TooManyProviderTokenUpdates",
            .retry(floor: .seconds(20 * 60), scope: .provider, counts: false, renewal: .connection)),
        APNSReaction(429, "TooManyRequests", .retry(scope: .device)),
        // Apple's only rule of timing is "after fifteen minutes" for a 5xx: the cap of our back-off. It starts far
        // below, because most of these pass in seconds and an invitation should not wait.
        APNSReaction(500, "InternalServerError", .retry(scope: .host)),
        APNSReaction(503, "ServiceUnavailable", .retry(scope: .host)),
        // One server of many goes down: another connection leads elsewhere.
        APNSReaction(503, "Shutdown", .retry(scope: .device, renewal: .connection)),
    ]

    /// For a reason nobody knows. What speaks of credentials or of another server than APNs fails every push alike:
    /// a pause loses none of them.
    static func byStatus(_ status: Int) -> Reaction {
        switch status {
        case 401, 403, 407:
            .misconfigured(
                fix: "APNs refuses our credentials for a reason new to this worker: look it up at Apple", scope: .host)
        case 300..<400, 404:
            .misconfigured(fix: "check that APNS_URL leads to Apple: this is no answer of APNs", scope: .host)
        case 408, 429: .retry(scope: .device)
        case 400..<500: .rejected
        case 500..<600: .retry(scope: .host)
        default: .unknown
        }
    }
}

extension APNSReaction.Reaction {
    func outcome(reason: String, since: Date?, retryAfter: Duration?) -> SendOutcome {
        switch self {
        case .deviceDead: .deviceDead(reason: reason, since: since)
        case .badDeviceToken: .badDeviceToken(reason: reason)
        case .rejected: .rejected(reason: reason)
        case .misconfigured(let fix, let scope): .misconfigured(reason: reason, fix: fix, scope: scope)
        case .retry(let floor, let scope, let counts, let renewal, let fixIfRepeated):
            .retry(
                SendOutcome.Retry(
                    reason: reason, floor: [floor, retryAfter].compactMap { $0 }.max(), scope: scope,
                    countsAsAttempt: counts, renewal: renewal, fixIfRepeated: fixIfRepeated))
        case .unknown: .unknown(reason: reason)
        }
    }
}
