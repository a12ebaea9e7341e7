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

    /// Tries before a record that the database calls wrong is written entry by entry.
    private static let triesTogether = 3

    func write(_ record: QueueRecord) async {
        let statement = RecordStatement(source: self.context.settings.source, workerID: self.context.worker.id)
        var backOff = BackOff()
        var isRepeated = false
        var refusals = 0
        while true {
            do {
                let rows = try await self.session.query(
                    statement.query(record, repeated: isRepeated), for: .record)
                self.context.recovered(.record)
                // A repetition may find its own marks: then nobody knows how many were made.
                self.context.count(
                    recorded: record, buried: isRepeated ? nil : RecordStatement.buried(rows))
                self.context.held.close(record.closed + record.released.map(\.lease))
                if record.parked.contains(where: { $0.wait < Self.soon }) { self.wake.wake() }
                return
            } catch {
                // What was in flight when a worker is stopped the hard way is sent again by the next one.
                if Task.isCancelled { return }
                if let more = self.context.repeats.mayWrite(DatabaseOperation.record.rawValue) {
                    self.context.log.error(
                        "recording failed, trying again",
                        ["error": "\(error)", "entries": record.count, "repeated": more])
                }
                isRepeated = true
                if let state = (error as? PostgresError)?.sqlState, Self.isDataFault(state) {
                    refusals += 1
                    if refusals >= Self.triesTogether { return await self.writeSingly(record) }
                }
                if (error as? PostgresError)?.sqlState == "23514" {
                    // No partition for today: whoever finds one missing makes it.
                    _ = try? await self.session.query("select push.ensure_partitions()", for: .partitions)
                }
                try? await Task.sleep(for: backOff.next())
            }
        }
    }

    /// An error about a value, which no repetition will mend: of class 21, 22 or 23, but for a missing partition.
    private static func isDataFault(_ state: String) -> Bool {
        state != "23514" && ["21", "22", "23"].contains(state.prefix(2))
    }

    /// Writes each entry by itself, so that one which cannot be stored holds up no other. That one is left out, loudly.
    private func writeSingly(_ record: QueueRecord) async {
        let entries = record.singles
        guard entries.count > 1 else {
            if let more = self.context.repeats.mayWrite("left out") {
                self.context.log.error(
                    "an entry that cannot be recorded was left out", ["kind": record.summary, "repeated": more])
            }
            return
        }
        for entry in entries { await self.write(entry) }
    }
}
