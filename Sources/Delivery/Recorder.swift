package import DeliveryQueue
import Locking

/// Gathers what happened and has it written in as few statements as the database's pace makes of it: while one is under
/// way the next fills. Nothing is dropped: a flush that fails is tried again until it is written.
package final class Recorder: Sendable {
    private let pending = Locked(QueueRecord())
    private let signal = WakeSignal()

    package init() {}

    package func add(_ record: QueueRecord) {
        guard !record.isEmpty else { return }
        self.pending.withLock { $0.append(record) }
        self.signal.wake()
    }

    /// Entries not yet handed to a flush; claiming stops while there are too many.
    package var backlog: Int { self.pending.withLock(\.count) }

    /// No more will be added: `run` ends after the last flush.
    package func finish() {
        self.signal.finish()
    }

    /// Flushes until ``finish()``, then what is left.
    ///
    /// - Parameter write: writes one record, trying until it is written; returns early only when the task is cancelled.
    package func run(write: (QueueRecord) async -> Void) async {
        for await _ in self.signal.wakes { await self.flush(write) }
        await self.flush(write)
    }

    private func flush(_ write: (QueueRecord) async -> Void) async {
        let record = self.pending.withLock { pending in
            defer { pending = QueueRecord() }
            return pending
        }
        guard !record.isEmpty else { return }
        await write(record)
    }
}
