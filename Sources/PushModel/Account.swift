package import struct FoundationEssentials.UUID

/// Who is told, with the switches that are on.
package struct Account: Equatable, Sendable {
    package var id: UUID
    package var switchesOn: Set<AccountSwitch>

    package init(id: UUID, switchesOn: Set<AccountSwitch>) {
        self.id = id
        self.switchesOn = switchesOn
    }

    /// Whether a kind's pushes are wanted.
    package func wants(_ kind: NotificationKind) -> Bool {
        guard let accountSwitch = kind.accountSwitch else { return true }
        return self.switchesOn.contains(accountSwitch)
    }
}
