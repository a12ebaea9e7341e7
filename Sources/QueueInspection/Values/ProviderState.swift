package import PushModel

package import struct FoundationEssentials.Date

/// Whether an endpoint is used now, and if not, why.
package struct ProviderState: Sendable {
    package var endpoint: ProviderEndpoint
    package var pause: Pause?
    /// When its state last changed; nil if it never did.
    package var changedAt: Date?

    package struct Pause: Hashable, Sendable {
        /// Nil: until an operator resumes it.
        package var until: Date?
        package var by: PausedBy
        package var reason: String
        /// What to do about it; nil where waiting is all.
        package var fix: String?

        package init(until: Date?, by: PausedBy, reason: String, fix: String?) {
            self.until = until
            self.by = by
            self.reason = reason
            self.fix = fix
        }
    }

    package enum PausedBy: Hashable, Sendable {
        /// A worker, after what the provider answered.
        case worker
        /// A person, by name as in the audit.
        case person(String)
    }

    package var isPaused: Bool { self.pause != nil }

    package init(endpoint: ProviderEndpoint, pause: Pause?, changedAt: Date?) {
        self.endpoint = endpoint
        self.pause = pause
        self.changedAt = changedAt
    }
}
