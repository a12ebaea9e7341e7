import Locking

/// How many deliveries of one endpoint may be on their way at once: permits, given out first come, first served.
///
/// What has no permit is not handed to the transport, so that it can be checked again right before it is sent.
package final class InFlightWindow: Sendable {
    private struct Waiter {
        var id: Int
        var most: Int
        var continuation: CheckedContinuation<Int, Never>
    }

    private struct State {
        var free: Int
        var waiters: [Waiter] = []
        var nextID = 0
        var isClosed = false
    }

    package let capacity: Int
    private let state: Locked<State>

    package init(capacity: Int) {
        self.capacity = max(1, capacity)
        self.state = Locked(State(free: max(1, capacity)))
    }

    /// Waits until at least one permit is free and takes up to `most` of them; 0 once the window is closed, or when the
    /// task is cancelled.
    package func take(upTo most: Int) async -> Int {
        let id = self.state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(id: id, most: most, continuation: continuation)
                let granted: Int? = self.state.withLock { state in
                    if state.isClosed || Task.isCancelled { return 0 }
                    if let granted = Self.grant(upTo: most, &state) { return granted }
                    state.waiters.append(waiter)
                    return nil
                }
                if let granted { continuation.resume(returning: granted) }
            }
        } onCancel: {
            let waiter = self.state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: 0)
        }
    }

    /// The same with a limit; nil when no permit came free within it. A cancelled task gets 0 here too: it has not learnt
    /// that nothing came free.
    package func take(upTo most: Int, within limit: Duration) async -> Int? {
        let atOnce = self.state.withLock { state in state.isClosed ? 0 : Self.grant(upTo: most, &state) }
        if let atOnce { return atOnce }
        return await withTaskGroup(of: Int?.self) { group in
            group.addTask { await self.take(upTo: most) }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = await group.next() ?? nil else {
                group.cancelAll()
                // A permit may have been granted just as the limit passed.
                if let late = await group.next() ?? nil, late > 0 { return late }
                return Task.isCancelled ? 0 : nil
            }
            return first
        }
    }

    private static func grant(upTo most: Int, _ state: inout State) -> Int? {
        guard state.free > 0, state.waiters.isEmpty else { return nil }
        let granted = min(most, state.free)
        state.free -= granted
        return granted
    }

    /// Gives permits back.
    package func give(back count: Int) {
        let served: [(Waiter, Int)] = self.state.withLock { state in
            state.free += count
            var served: [(Waiter, Int)] = []
            while state.free > 0, !state.waiters.isEmpty {
                let waiter = state.waiters.removeFirst()
                let granted = min(waiter.most, state.free)
                state.free -= granted
                served.append((waiter, granted))
            }
            return served
        }
        for (waiter, granted) in served { waiter.continuation.resume(returning: granted) }
    }

    /// No more permits for anyone: whoever waits gets 0.
    package func close() {
        let waiters = self.state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: 0) }
    }

    /// Permits that are out.
    package var inUse: Int { self.state.withLock { self.capacity - $0.free } }

    /// Callers that wait for one.
    package var waiting: Int { self.state.withLock(\.waiters.count) }
}
