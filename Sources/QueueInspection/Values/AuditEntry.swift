package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// What an operator did.
package struct AuditEntry: Hashable, Sendable {
    package var id: UUID
    package var at: Date
    /// `cli:anna@host`, `dashboard:operator`, `api:operator`.
    package var actor: String
    package var action: Action
    package var target: Target
    /// How many deliveries were meant; a capped count for everything that a filter matched.
    package var matched: Int
    /// How many were changed.
    package var changed: Int
    package var note: String?

    package enum Action: String, CaseIterable, Hashable, Sendable {
        case retry, cancel, pause, resume, stop, prune
    }

    package enum Target: Hashable, Sendable {
        case delivery(UUID)
        case notification(UUID)
        /// An endpoint of a provider.
        case provider(String)
        /// Everything that the filter matched, in a bulk action; its id is that of the entry which began it.
        case filter(DeliveryFilter, bulk: UUID)
        /// The history, pruned.
        case history
    }

    package init(
        id: UUID, at: Date, actor: String, action: Action, target: Target, matched: Int, changed: Int, note: String?
    ) {
        self.id = id
        self.at = at
        self.actor = actor
        self.action = action
        self.target = target
        self.matched = matched
        self.changed = changed
        self.note = note
    }
}

/// A page of the audit, newest first.
package struct AuditPage: Sendable {
    package var entries: [AuditEntry]
    /// Where the next (older) page begins, for `QueueReader.audit(before:)`; nil at the end.
    package var next: DeliveryCursor?

    package init(entries: [AuditEntry], next: DeliveryCursor? = nil) {
        self.entries = entries
        self.next = next
    }
}

/// A retry or cancel of everything that a filter matches, done in slices.
package struct BulkAction: Hashable, Sendable {
    package var id: UUID
    package var action: AuditEntry.Action
    package var filter: DeliveryFilter
    package var state: State
    /// Counted before it began.
    package var matched: CappedCount
    /// Deliveries looked at so far.
    package var done: Int
    /// Of these, how many were changed; the others were refused, or had changed by themselves.
    package var changed: Int
    package var actor: String
    package var startedAt: Date
    package var updatedAt: Date
    /// Why it failed.
    package var error: String?

    package enum State: String, CaseIterable, Hashable, Sendable {
        case running
        /// Asked to stop: it does after the slice under way.
        case stopping
        case stopped, finished, failed

        package var isOver: Bool { self != .running && self != .stopping }
    }

    package init(
        id: UUID, action: AuditEntry.Action, filter: DeliveryFilter, state: State, matched: CappedCount, done: Int,
        changed: Int, actor: String, startedAt: Date, updatedAt: Date, error: String?
    ) {
        self.id = id
        self.action = action
        self.filter = filter
        self.state = state
        self.matched = matched
        self.done = done
        self.changed = changed
        self.actor = actor
        self.startedAt = startedAt
        self.updatedAt = updatedAt
        self.error = error
    }
}
