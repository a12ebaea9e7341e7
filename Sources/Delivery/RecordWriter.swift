import DeliveryQueue
import Observability
import Postgres

import struct FoundationEssentials.UUID

/// Writes the recorder's records, each until it is written.
struct RecordWriter: Sendable {
    let context: DeliveryContext
    let session: DatabaseSession
    let wake: WakeSignal

    /// What waits shorter than this is worth a look at once rather than at the next poll.
    private static let soon = Duration.milliseconds(500)

    func write(_ record: QueueRecord) async {
        let statement = RecordStatement(source: self.context.settings.source, workerID: self.context.worker.id)
        var backOff = BackOff()
        var isRepeated = false
        while true {
            do {
                _ = try await self.session.query(statement.query(record, repeated: isRepeated))
                self.context.held.close(record.closed + record.released.map(\.lease))
                if record.parked.contains(where: { $0.wait < Self.soon }) { self.wake.wake() }
                return
            } catch {
                // What was in flight when a worker is stopped the hard way is sent again by the next one.
                if Task.isCancelled { return }
                self.context.log.error(
                    "recording failed, trying again", ["error": "\(error)", "entries": record.count])
                isRepeated = true
                if (error as? PostgresError)?.sqlState == "23514" {
                    // No partition for today: whoever finds one missing makes it.
                    _ = try? await self.session.query("select push.ensure_partitions()")
                }
                try? await Task.sleep(for: backOff.next())
            }
        }
    }
}
