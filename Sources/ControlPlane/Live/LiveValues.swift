import Dashboard
import Locking
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Reads what all open pages show, in one round.
struct LiveValues: Sendable {
    let queue: QueueAccess
    /// Timelines that were read, and the row they were read for: one is read again when its row has changed.
    private let timelines = Locked<[UUID: DeliveryTimeline]>([:])

    /// Of one round: more wait for the next.
    private static let mostTimelines = 5
    private static let mostBulkActions = 5

    init(queue: QueueAccess) {
        self.queue = queue
    }

    /// What one round has read.
    struct Round: Sendable {
        var readAt: Date
        var overview: Overview?
        var rows: [UUID: DeliveryRow] = [:]
        var timelines: [UUID: DeliveryTimeline] = [:]
        var bulk: [UUID: BulkAction] = [:]

        func parts(for wish: LiveEvents.Wish, _ context: PageContext) -> [PagePart] {
            var parts: [PagePart] = []
            if wish.overview, let overview = self.overview { parts += Pages.overviewParts(overview, context) }
            parts += wish.rows.compactMap { self.rows[$0] }.map { Pages.deliveryRowPart($0, context) }
            if let timeline = wish.delivery.flatMap({ self.timelines[$0] }) {
                parts += Pages.deliveryParts(timeline, context)
            }
            if let action = wish.bulk.flatMap({ self.bulk[$0] }) { parts += Pages.bulkParts(action, context) }
            return parts
        }
    }

    func read(for wishes: [LiveEvents.Wish]) async throws -> Round {
        var round = Round(readAt: Date())
        if wishes.contains(where: \.overview) {
            let overview = try await self.queue.overview()
            round.overview = overview
            round.readAt = overview.readAt
        }
        let watched = Set(wishes.compactMap(\.delivery))
        let ids = watched.union(wishes.flatMap(\.rows))
        for row in try await self.queue.reader.states(of: Array(ids)) { round.rows[row.id] = row }
        round.timelines = try await self.timelines(of: watched, round.rows)
        for id in Set(wishes.compactMap(\.bulk)).prefix(Self.mostBulkActions) {
            round.bulk[id] = try await self.queue.reader.bulkAction(id)
        }
        return round
    }

    private func timelines(of watched: Set<UUID>, _ rows: [UUID: DeliveryRow]) async throws -> [UUID: DeliveryTimeline]
    {
        var known = self.timelines.withLock { $0 }.filter { watched.contains($0.key) }
        let changed = watched.filter { rows[$0] != nil && known[$0]?.row != rows[$0] }
        for id in changed.prefix(Self.mostTimelines) {
            known[id] = try await self.queue.reader.timeline(of: id)
        }
        self.timelines.withLock { $0 = known }
        return known
    }
}
