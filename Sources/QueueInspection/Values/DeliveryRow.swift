package import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// One delivery in a list.
package struct DeliveryRow: Hashable, Sendable {
    package var id: UUID
    package var notificationID: UUID
    /// Nil when the account was gone when it was decided.
    package var accountID: UUID?
    package var deviceID: UUID
    /// Nil while it runs for the first time: what is stored of it then does not say.
    package var platform: Platform?
    package var kind: String?
    package var state: DeliveryState
    /// The last reason; nil when there never was one.
    package var reason: String?
    /// Tries so far.
    package var attempt: Int
    /// When it is due; nil unless it waits.
    package var scheduledAt: Date?
    /// When it ended; nil unless it did.
    package var finishedAt: Date?
    /// What lists are sorted by: the end, or when it began to wait, or when it was decided.
    package var time: Date

    package init(
        id: UUID, notificationID: UUID, accountID: UUID?, deviceID: UUID, platform: Platform?, kind: String?,
        state: DeliveryState, reason: String?, attempt: Int, scheduledAt: Date?, finishedAt: Date?, time: Date
    ) {
        self.id = id
        self.notificationID = notificationID
        self.accountID = accountID
        self.deviceID = deviceID
        self.platform = platform
        self.kind = kind
        self.state = state
        self.reason = reason
        self.attempt = attempt
        self.scheduledAt = scheduledAt
        self.finishedAt = finishedAt
        self.time = time
    }
}

/// A page of a list, newest first.
package struct DeliveryPage: Sendable {
    package var rows: [DeliveryRow]
    /// Where the next (older) page begins; nil at the end.
    package var next: DeliveryCursor?
    /// Where the page before (newer) ends; nil on the first page.
    package var previous: DeliveryCursor?
    /// Whether the search stopped before the page was full, because few of the rows it looked at matched. ``next`` then
    /// goes on from there.
    package var stoppedEarly: Bool

    package init(
        rows: [DeliveryRow], next: DeliveryCursor? = nil, previous: DeliveryCursor? = nil, stoppedEarly: Bool = false
    ) {
        self.rows = rows
        self.next = next
        self.previous = previous
        self.stoppedEarly = stoppedEarly
    }
}

/// A place in a list: between two rows, so that rows that come meanwhile move nothing. Its text may stand in a URL.
package struct DeliveryCursor: Hashable, Sendable {
    package enum Direction: String, Hashable, Sendable {
        /// Towards the past: what a "next page" shows.
        case older
        case newer
    }

    package var direction: Direction
    /// Microseconds since 1970 of the row it stands at.
    package var microseconds: Int
    package var id: UUID

    package init(direction: Direction, microseconds: Int, id: UUID) {
        self.direction = direction
        self.microseconds = microseconds
        self.id = id
    }
}
