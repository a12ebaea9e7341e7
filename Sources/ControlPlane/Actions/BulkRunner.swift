import Locking
import Observability
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Does bulk actions in the background, one after the other; their state is in the database, so that another worker goes
/// on where this one was stopped.
final class BulkRunner: Sendable {
    private struct State {
        var waiting: [UUID] = []
        var runner: Task<Void, Never>?
        var isStopping = false
    }

    private let state = Locked(State())
    private let queue: QueueAccess
    private let wake: @Sendable () -> Void
    private let log: Log

    /// What nobody has moved on for so long was left behind by a worker that ended.
    private static let abandonedAfter = 60.0

    init(queue: QueueAccess, wake: @escaping @Sendable () -> Void, log: Log) {
        self.queue = queue
        self.wake = wake
        self.log = log
    }

    /// Goes on with what an ended worker has left behind.
    func begin() {
        self.state.withLock { state in
            guard !state.isStopping, state.runner == nil else { return }
            // Apart from the start: the database may be away for long.
            state.runner = Task {
                await self.takeOver()
                await self.runAll()
            }
        }
    }

    func start(_ id: UUID) {
        self.state.withLock { state in
            guard !state.isStopping, !state.waiting.contains(id) else { return }
            state.waiting.append(id)
            // Outlives the request that asked for it.
            if state.runner == nil { state.runner = Task { await self.runAll() } }
        }
    }

    private func takeOver() async {
        guard let actions = try? await self.queue.reader.bulkActions() else { return }
        for action in actions where !action.state.isOver && -action.updatedAt.timeIntervalSinceNow > Self.abandonedAfter
        {
            self.log.notice("going on with a bulk action", ["bulk": action.id.uuidString.lowercased()])
            self.start(action.id)
        }
    }

    /// Ends after the slice under way.
    func stop() async {
        let runner = self.state.withLock { state in
            state.isStopping = true
            state.waiting = []
            return state.runner
        }
        runner?.cancel()
        await runner?.value
    }

    private func runAll() async {
        while let id = self.next() {
            do {
                let done = try await self.queue.actions.run(id) { [wake] _ in wake() }
                self.log.notice(
                    "bulk action",
                    ["bulk": id.uuidString.lowercased(), "state": done.state.rawValue, "changed": done.changed])
            } catch {
                self.log.error("bulk action failed", ["bulk": id.uuidString.lowercased(), "error": "\(error)"])
            }
        }
    }

    private func next() -> UUID? {
        self.state.withLock { state in
            guard !state.isStopping, !state.waiting.isEmpty else {
                state.runner = nil
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
