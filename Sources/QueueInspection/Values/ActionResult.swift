package import struct FoundationEssentials.UUID

/// What came of an operator's retry or cancel of single deliveries or notifications.
package struct ActionResult: Hashable, Sendable {
    /// One for each delivery (or notification in the outbox) that was meant.
    package var items: [Item]

    package var changed: Int { self.items.count { $0.isChanged } }

    package struct Item: Hashable, Sendable {
        /// The delivery's id, or the notification's where no delivery was made yet.
        package var id: UUID
        package var isChanged: Bool
        /// What was done, or why it was refused: a sentence without a full stop.
        package var message: String

        package init(id: UUID, isChanged: Bool, message: String) {
            self.id = id
            self.isChanged = isChanged
            self.message = message
        }
    }

    package init(items: [Item]) { self.items = items }
}
