/// What a notification tells: the whole of what the worker knows of one kind, in one entry.
///
/// A new kind is one entry in ``all`` and one in each language file.
package struct NotificationKind: Hashable, Sendable {
    /// The name in `notifications.kind`, in language files and in payloads.
    package let name: String
    /// The account switch that turns pushes of this kind off; nil: always pushed.
    package let accountSwitch: AccountSwitch?
    /// Whether a new notification is dropped while an earlier unread one of the same account and connection exists.
    package let coalesces: Bool
    /// Which lane of the outbox it waits in.
    package let lane: Lane
    /// Where its words come from.
    package let text: TextSource

    package enum TextSource: Hashable, Sendable {
        /// From the language files.
        case template
        /// From the row itself: `translations`, else `title` and `body`.
        case row
    }

    package static let invitationReceived = NotificationKind(
        name: "invitation_received", accountSwitch: .invitations, coalesces: false, lane: .interactive, text: .template)
    package static let invitationAccepted = NotificationKind(
        name: "invitation_accepted", accountSwitch: .invitations, coalesces: false, lane: .interactive, text: .template)
    package static let contactUpdated = NotificationKind(
        name: "contact_updated", accountSwitch: .contactUpdates, coalesces: true, lane: .normal, text: .template)
    package static let circleChanged = NotificationKind(
        name: "circle_changed", accountSwitch: .circleChanges, coalesces: true, lane: .normal, text: .template)
    package static let system = NotificationKind(
        name: "system", accountSwitch: nil, coalesces: false, lane: .bulk, text: .row)

    /// Every kind that is pushed. A name outside this list is decided `unknown_kind`.
    package static let all: [NotificationKind] = [
        .invitationReceived, .invitationAccepted, .contactUpdated, .circleChanged, .system,
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The kind of that name, or nil if the worker does not know it.
    package init?(named name: String) {
        guard let kind = Self.byName[name] else { return nil }
        self = kind
    }

    private init(name: String, accountSwitch: AccountSwitch?, coalesces: Bool, lane: Lane, text: TextSource) {
        self.name = name
        self.accountSwitch = accountSwitch
        self.coalesces = coalesces
        self.lane = lane
        self.text = text
    }
}

/// A per-account on/off rule; the raw value is its column in `accounts`.
package enum AccountSwitch: String, CaseIterable, Hashable, Sendable {
    case invitations = "notify_invitations"
    case contactUpdates = "notify_contact_updates"
    case circleChanges = "notify_circle_changes"
}

/// The outbox is emptied lane by lane, lowest first.
package enum Lane: Int, CaseIterable, Hashable, Sendable {
    case interactive = 0
    case normal = 1
    case bulk = 2
}
