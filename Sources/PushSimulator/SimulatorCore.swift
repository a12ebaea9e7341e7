internal import Locking

internal import struct FoundationEssentials.Date

/// The server's handler: takes the lock, lets the model decide, leaves the lock, then tells whoever waits or watches.
final class SimulatorCore: H2Handler {
    private let options: SimulatorConfiguration.Options
    private let state: Locked<State>

    private struct State {
        var model: SimulatorModel
        var waiters: [Waiter] = []
        var nextWaiter = 1
    }

    private struct Waiter {
        var id: Int
        var count: Int
        var continuation: CheckedContinuation<Void, any Error>
    }

    init(_ configuration: SimulatorConfiguration, addresses: SimulatorAddresses) {
        self.options = configuration.options
        self.state = Locked(State(model: SimulatorModel(configuration, addresses: addresses)))
    }

    func withModel<Result>(_ body: (inout SimulatorModel) -> Result) -> Result {
        self.state.withLock { body(&$0.model) }
    }

    // MARK: - H2Handler

    func opened(connection: Int, listener: Int) -> H2ConnectionOptions {
        let role = SimulatorRole(rawValue: listener) ?? .control
        var options = H2ConnectionOptions(maxConcurrentStreams: 100)
        options.limitsResets = self.options.limitsResets
        switch role {
        case .control:
            options.maxBodyBytes = 64 * 1024 * 1024
            options.maxHeaderListBytes = 64 * 1024
        case .apnsProduction, .apnsDevelopment:
            options.maxConcurrentStreams = APNSConnectionState.streamsBeforeToken
            if self.options.acceptsAll {
                options.maxConcurrentStreams = APNSConnectionState.streamsAfterToken
                options.fixedAnswer = H2Answer(status: 200)
            }
        case .fcm:
            options.requiresALPN = true
            options.endsWithEmptyData = true
            options.idleTimeout = self.options.fcmIdleTimeout
            options.maxAge = self.options.fcmMaxAge
            options.maxPings = 3
            if self.options.acceptsAll { options.fixedAnswer = Self.fixedFCMAnswer }
        case .token: options.requiresALPN = true
        }
        self.withModel { $0.opened(connection: connection, role: role, streamLimit: options.maxConcurrentStreams) }
        return options
    }

    private static let fixedFCMAnswer = H2Answer(
        status: 200, headers: [H2Header("content-type", "application/json; charset=UTF-8")],
        body: Array("{\"name\":\"projects/simulated-project/messages/0:1790000000000000%0000000000000000\"}".utf8))

    func closed(connection: Int) { self.withModel { $0.closed(connection: connection) } }

    func answeredFixed(listener: Int, count: Int) { self.withModel { $0.acceptedUnseen += count } }

    func handle(_ requests: [H2Request]) -> [H2Action] {
        var actions: [H2Action] = []
        var recorded: [ReceivedPush] = []
        let now = self.options.now()
        let satisfied = self.state.withLock { state in
            for request in requests {
                if request.listener == SimulatorRole.control.rawValue {
                    let answer = ControlAPI.answer(request.request, &state.model)
                    actions.append(
                        H2Action(connection: request.connection, stream: request.stream, kind: .answer(answer)))
                } else {
                    actions += state.model.handle(request, now: now, recorded: &recorded)
                }
            }
            return Self.takeSatisfied(&state)
        }
        for waiter in satisfied { waiter.continuation.resume() }
        if let onPush = self.options.onPush { recorded.forEach(onPush) }
        return actions
    }

    // MARK: - Waiting for pushes

    private static func takeSatisfied(_ state: inout State) -> [Waiter] {
        guard !state.waiters.isEmpty else { return [] }
        let total = state.model.received.total
        let satisfied = state.waiters.filter { $0.count <= total }
        state.waiters.removeAll { $0.count <= total }
        return satisfied
    }

    /// Returns when there are `count` pushes, throws ``ReceiveTimeout`` after `limit`, or `CancellationError`.
    func waitForReceived(count: Int, within limit: Duration) async throws {
        let id = self.state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        // Ends the wait from outside; cancelled as soon as the wait is over.
        let timer = Task {
            try await Task.sleep(for: limit)
            self.fail(waiter: id) { ReceiveTimeout(wanted: count, received: $0, limit: limit) }
        }
        defer { timer.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isSatisfied = self.state.withLock { state in
                    guard state.model.received.total < count, !Task.isCancelled else { return true }
                    state.waiters.append(Waiter(id: id, count: count, continuation: continuation))
                    return false
                }
                if isSatisfied { continuation.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            self.fail(waiter: id) { _ in CancellationError() }
        }
    }

    private func fail(waiter id: Int, _ error: (_ received: Int) -> any Error) {
        let (waiter, total) = self.state.withLock { state in
            let index = state.waiters.firstIndex { $0.id == id }
            return (index.map { state.waiters.remove(at: $0) }, state.model.received.total)
        }
        waiter?.continuation.resume(throwing: error(total))
    }
}

/// Fewer pushes came than were waited for.
package struct ReceiveTimeout: Error, Equatable, CustomStringConvertible {
    package let wanted: Int
    package let received: Int
    package let limit: Duration

    package var description: String { "\(self.received) of \(self.wanted) pushes came within \(self.limit)" }
}
