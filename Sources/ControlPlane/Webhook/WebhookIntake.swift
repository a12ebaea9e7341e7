import Delivery
import Locking
import Observability
import Postgres

import struct FoundationEssentials.UUID

/// Writes what the webhook tells, gathered: while one statement is on its way the next fills up, so ten thousand requests
/// are a few dozen statements. Each request waits until its row is stored, so that a 202 means it.
final class WebhookIntake: Sendable {
    private enum Hint {
        case enqueue(UUID)
        case recheck(UUID)
    }

    private struct State {
        var waiting: [(hint: Hint, continuation: CheckedContinuation<Bool, Never>)] = []
        var isWriting = false
    }

    private let state = Locked(State())
    private let statements: WebhookStatements
    private let session: DatabaseSession
    private let wake: @Sendable () -> Void
    private let log: Log
    /// Stands as the worker in what is cancelled here.
    private let origin = UUID()

    /// Rows of one statement.
    private static let most = 2000

    init(
        statements: WebhookStatements, session: DatabaseSession, wake: @escaping @Sendable () -> Void, log: Log
    ) {
        self.statements = statements
        self.session = session
        self.wake = wake
        self.log = log
    }

    /// - Returns: the result for the count; `.unavailable` when the database did not take it.
    func take(_ body: WebhookBody) async -> WebhookResult {
        switch body {
        case .otherTable: .ignored
        case .insert(let id): await self.write(.enqueue(id)) ? .queued : .unavailable
        case .update(let id): await self.write(.recheck(id)) ? .reevaluated : .unavailable
        case .delete(let id): await self.write(.recheck(id)) ? .cancelled : .unavailable
        }
    }

    private func write(_ hint: Hint) async -> Bool {
        await withCheckedContinuation { continuation in
            let begins = self.state.withLock { state in
                state.waiting.append((hint, continuation))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            // On its own, as it writes for requests that come later, too. It ends when nothing waits.
            if begins { Task { await self.writeAll() } }
        }
    }

    private func writeAll() async {
        while true {
            let batch = self.state.withLock { state in
                let batch = Array(state.waiting.prefix(Self.most))
                state.waiting.removeFirst(batch.count)
                if batch.isEmpty { state.isWriting = false }
                return batch
            }
            guard !batch.isEmpty else { return }
            let isWritten = await self.write(batch.map(\.hint))
            for entry in batch { entry.continuation.resume(returning: isWritten) }
            guard !isWritten else { continue }
            // Those that came meanwhile would wait for the same time-out, one after the other.
            let others = self.state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for entry in others { entry.continuation.resume(returning: false) }
        }
    }

    private func write(_ hints: [Hint]) async -> Bool {
        var inserted: Set<UUID> = []
        var changed: Set<UUID> = []
        for hint in hints {
            switch hint {
            case .enqueue(let id): inserted.insert(id)
            case .recheck(let id): changed.insert(id)
            }
        }
        do {
            if !inserted.isEmpty {
                let rows = try await self.session.query(self.statements.enqueue(Array(inserted)))
                if rows.affected > 0 { self.wake() }
            }
            if !changed.isEmpty {
                _ = try await self.session.query(self.statements.recheck(Array(changed), origin: self.origin))
            }
            return true
        } catch {
            self.log.warning(
                "the webhook cannot write",
                ["error": "\(error)", "rows": hints.count, "effect": "the sweep finds them"])
            return false
        }
    }
}
