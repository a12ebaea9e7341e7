package import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// Which deliveries are meant; nil means any. The names of ``Field`` are the query items of a URL, the flags of the
/// command line and the keys of the audit alike.
package struct DeliveryFilter: Hashable, Sendable {
    package var account: UUID?
    package var notification: UUID?
    package var device: UUID?
    /// Any name of a kind, also one that this program does not know.
    package var kind: String?
    package var platform: Platform?
    package var state: DeliveryState?
    /// A provider's word or one of ours, exactly.
    package var reason: String?
    /// Nothing before.
    package var since: Date?
    /// Nothing at this moment or later.
    package var until: Date?

    package enum Field: String, CaseIterable, Sendable {
        case account, notification, device, kind, platform, state, reason, since, until
    }

    package init(
        account: UUID? = nil, notification: UUID? = nil, device: UUID? = nil, kind: String? = nil,
        platform: Platform? = nil, state: DeliveryState? = nil, reason: String? = nil, since: Date? = nil,
        until: Date? = nil
    ) {
        self.account = account
        self.notification = notification
        self.device = device
        self.kind = kind
        self.platform = platform
        self.state = state
        self.reason = reason
        self.since = since
        self.until = until
    }

    package var isEmpty: Bool { self == DeliveryFilter() }
}
