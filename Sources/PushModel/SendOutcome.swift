package import struct FoundationEssentials.Date

/// What one try came to: the provider's answer, read by that provider's outcome table, or the transport's failure.
package enum SendOutcome: Equatable, Sendable {
    /// A 200. `providerID` is what the provider calls the message, for its support.
    case accepted(providerID: String?)
    /// Not now. Tried again after a back-off.
    case retry(Retry)
    /// The address no longer leads to the app. `since` (APNs 410): when the provider knew; a later registration
    /// of the same token outlives it.
    case deviceDead(reason: String, since: Date?)
    /// APNs `BadDeviceToken`: unknown here, perhaps known to the other environment.
    case badDeviceToken(reason: String)
    /// Our fault: this payload or header will never be accepted.
    case rejected(reason: String)
    /// A fault of configuration (key, topic, project, permission, clock): every send would fail the same way.
    case misconfigured(reason: String, fix: String)
    /// Sent, but what became of it is not known: time-out, or the connection died. Tried again with the same ids.
    case unknown(reason: String)

    package struct Retry: Equatable, Sendable {
        package var reason: String
        /// The wait may not be shorter than this.
        package var floor: Duration?
        /// Whom the answer is about.
        package var scope: Scope
        /// Whether the try counts against the delivery's maximum.
        package var countsAsAttempt: Bool
        /// What must be made anew before the next try.
        package var renewal: Renewal

        package enum Scope: Equatable, Sendable {
            case device, provider
        }

        package enum Renewal: Equatable, Sendable {
            case none
            case connection
            case credential
        }

        package init(
            reason: String, floor: Duration? = nil, scope: Scope = .device, countsAsAttempt: Bool = true,
            renewal: Renewal = .none
        ) {
            self.reason = reason
            self.floor = floor
            self.scope = scope
            self.countsAsAttempt = countsAsAttempt
            self.renewal = renewal
        }
    }

    /// The word for `push.attempts.outcome`.
    package var name: String {
        switch self {
        case .accepted: "accepted"
        case .retry: "retry"
        case .deviceDead: "device_dead"
        case .badDeviceToken: "bad_device_token"
        case .rejected: "rejected"
        case .misconfigured: "misconfigured"
        case .unknown: "unknown"
        }
    }

    /// The provider's or transport's own word for it; nil for an acceptance.
    package var reason: String? {
        switch self {
        case .accepted: nil
        case .retry(let retry): retry.reason
        case .deviceDead(let reason, _), .badDeviceToken(let reason), .rejected(let reason),
            .misconfigured(let reason, _), .unknown(let reason):
            reason
        }
    }
}
