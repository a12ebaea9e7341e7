package import struct FoundationEssentials.Date

/// What one try came to: the provider's answer, read by that provider's outcome table, or the transport's failure.
///
/// A `reason` is the provider's own word, or `status_<code>` where it gave none; a bounded, printable text without
/// token or name. The words of `fix` are for the operator.
package enum SendOutcome: Equatable, Sendable {
    /// A 200. `providerID` is what the provider calls the message, for its support.
    case accepted(providerID: String?)
    /// Not now. Tried again after a back-off.
    case retry(Retry)
    /// The address no longer leads to the app. `since` (APNs 410): when the provider knew; a later registration
    /// of the same token outlives it.
    case deviceDead(reason: String, since: Date?)
    /// The address was refused, but another answer must confirm it before it counts as dead: for APNs
    /// `BadDeviceToken` one try at the other environment, for FCM a bare validation of the token.
    case badDeviceToken(reason: String)
    /// Our fault: this payload or header will never be accepted.
    case rejected(reason: String)
    /// A fault of configuration (key, topic, project, permission, clock): every send in `scope` would fail the same
    /// way, so `scope` is paused and keeps its deliveries. Where that is one device, only this delivery is given up.
    case misconfigured(reason: String, fix: String, scope: Scope)
    /// Sent, but what became of it is not known: time-out, or the connection died. Tried again with the same ids.
    case unknown(reason: String)

    /// Whom an answer is about.
    package enum Scope: Equatable, Sendable {
        /// This delivery's device alone.
        case device
        /// The host that answered: one APNs environment, or FCM.
        case host
        /// The provider with all its hosts.
        case provider
    }

    package struct Retry: Equatable, Sendable {
        package var reason: String
        /// The wait may not be shorter than this.
        package var floor: Duration?
        package var scope: Scope
        /// Whether the try counts against the delivery's maximum.
        package var countsAsAttempt: Bool
        /// What must be made anew before the next try.
        package var renewal: Renewal
        /// Set where the same answer after the renewal is a fault of configuration: what the operator should do.
        package var fixIfRepeated: String?

        package enum Renewal: Equatable, Sendable {
            case none
            case connection
            /// The provider token or access token; for APNs the connections too, since APNs does not recover on one
            /// that has seen an expired token.
            case credential
        }

        package init(
            reason: String, floor: Duration? = nil, scope: Scope = .device, countsAsAttempt: Bool = true,
            renewal: Renewal = .none, fixIfRepeated: String? = nil
        ) {
            self.reason = reason
            self.floor = floor
            self.scope = scope
            self.countsAsAttempt = countsAsAttempt
            self.renewal = renewal
            self.fixIfRepeated = fixIfRepeated
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
            .misconfigured(let reason, _, _), .unknown(let reason):
            reason
        }
    }

    /// This outcome when it follows a try that already renewed what it asks for: a second refusal of a fresh
    /// credential or connection is no accident.
    package var repeatedAfterRenewal: SendOutcome {
        guard case .retry(let retry) = self, let fix = retry.fixIfRepeated else { return self }
        return .misconfigured(reason: retry.reason, fix: fix, scope: retry.scope == .device ? .host : retry.scope)
    }
}
