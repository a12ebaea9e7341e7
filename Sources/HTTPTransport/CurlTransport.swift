private import Locking

/// HTTP/2 over TLS by libcurl, to one host under one credential.
///
/// Each connection has a thread and a libcurl multi handle of its own; `ConnectionPool` decides which request goes
/// where. What is promised:
/// - Every request comes back exactly once, and at most one copy of it goes on the wire. `.notSent` is certain;
///   everything that went out without an answer is `.unknown`.
/// - Nothing is sent over HTTP/1.1: a server that does not choose `h2` gets no request (`http1_refused`).
/// - At most `connections` × `window` requests are on the wire; the rest waits here without a limit of its own. It
///   cannot wait for ever: requests in flight end by `requestTimeout`, and when no connection can be made, all that
///   waits fails as `.notSent` with the reason of the failed attempt.
/// - Whoever stops reading a stream drops its requests that no connection has yet; the others end quietly.
///
/// Proxies in the environment are not used. `shutdown` ends the connections; so does the last reference, at once.
package final class CurlTransport: HTTPTransport {
    private let core: CurlCore

    package init(_ configuration: Configuration = Configuration()) {
        precondition(configuration.connections > 0 && configuration.window > 0, "no room for a request")
        precondition(
            configuration.requestTimeout > .zero && configuration.connectTimeout > .zero, "no time for a request")
        self.core = CurlCore(configuration)
    }

    deinit {
        self.core.close(grace: .zero)
        self.core.joinAll()
    }

    package func send(_ requests: [HTTPRequest]) -> AsyncStream<[HTTPExchange]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [HTTPExchange].self)
        guard !requests.isEmpty else {
            continuation.finish()
            return stream
        }
        let call = SendCall(count: requests.count, continuation: continuation)
        continuation.onTermination = { [core, weak call] reason in
            if case .cancelled = reason, let call { core.drop(call) }
        }
        self.core.enqueue(
            requests.map { PendingRequest(request: $0, call: call) }, credential: requests.first?.credential ?? 0)
        return stream
    }

    package func renewConnections() { self.core.renew() }

    package func use(credential: Int) { self.core.use(credential: credential) }

    /// Fails what waits, gives what is in flight until `grace` is over, and ends all threads. Later requests fail as
    /// `.notSent` with the reason `shut_down`.
    package func shutdown(grace: Duration = .seconds(30)) async {
        self.core.close(grace: grace)
        await self.core.untilIdle()
        self.core.joinAll()
    }

    package var statistics: TransportStatistics { self.core.statistics }
}

/// What the transport and its threads share; the threads keep it alive, not the transport.
private final class CurlCore: Sendable {
    private struct State {
        var pool: ConnectionPool<PendingRequest>
        var connections: [Int: CurlConnection] = [:]
        /// Threads that have ended or are about to.
        var ended: [CurlConnection] = []
        /// Starting: not in `connections` yet, perhaps already ended.
        var endedEarly: Set<Int> = []
        var opened = 0
        var sent = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let configuration: CurlTransport.Configuration
    private let state: Locked<State>

    init(_ configuration: CurlTransport.Configuration) {
        self.configuration = configuration
        let limits = ConnectionGate.Limits(
            window: configuration.window, probes: configuration.probesFreshConnections,
            reprobeAfter: configuration.reprobeAfter, idleLimit: configuration.idleLimit,
            lifetime: configuration.lifetime, requestsPerConnection: configuration.requestsPerConnection
        )
        self.state = Locked(State(pool: ConnectionPool(connections: configuration.connections, limits: limits)))
    }

    deinit {
        // A connection opened while `joinAll` looked elsewhere.
        let left = self.state.withLock { $0.ended + Array($0.connections.values) }
        for connection in left { connection.join() }
    }

    // MARK: - From callers

    func enqueue(_ requests: [PendingRequest], credential: Int) {
        self.perform(self.state.withLock { $0.pool.enqueue(requests, credential: credential, now: .now) })
    }

    func use(credential: Int) {
        self.perform(self.state.withLock { $0.pool.use(credential: credential, now: .now) })
    }

    func drop(_ call: SendCall) {
        _ = self.state.withLock { $0.pool.drop { $0.call === call } }
    }

    func renew() {
        self.perform(self.state.withLock { $0.pool.renew(now: .now) })
    }

    func close(grace: Duration) {
        self.perform(self.state.withLock { $0.pool.close(deadline: .now + grace) })
    }

    func untilIdle() async {
        await withCheckedContinuation { waiter in
            let isIdle = self.state.withLock { state in
                guard !state.connections.isEmpty || !state.pool.isEmpty else { return true }
                state.waiters.append(waiter)
                return false
            }
            if isIdle { waiter.resume() }
        }
    }

    /// Waits for every thread; after `close`, or some never end.
    func joinAll() {
        let all = self.state.withLock { state in
            defer { state.ended = []; state.connections = [:] }
            return state.ended + Array(state.connections.values)
        }
        for connection in all { connection.join() }
    }

    var statistics: TransportStatistics {
        self.state.withLock { state in
            TransportStatistics(
                connections: state.pool.connected, inFlight: state.pool.inFlight, queued: state.pool.queued,
                connectionsOpened: state.opened, requestsSent: state.sent
            )
        }
    }

    // MARK: - From the connections' threads

    private func turn(_ id: Int, _ news: CurlLoop.News) -> ConnectionPool<PendingRequest>.Turn {
        let (turn, actions) = self.state.withLock { state in
            state.opened += news.connections
            state.sent += news.sent
            return state.pool.turn(id, report: news.report, returned: news.returned, now: .now)
        }
        news.ended.deliver()
        self.perform(actions)
        return turn
    }

    private func threadEnded(_ id: Int) {
        let waiters = self.state.withLock { state in
            if let connection = state.connections.removeValue(forKey: id) {
                state.ended.append(connection)
            } else {
                state.endedEarly.insert(id)
            }
            return Self.takeWaiters(&state)
        }
        for waiter in waiters { waiter.resume() }
    }

    private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        guard state.connections.isEmpty, state.pool.isEmpty else { return [] }
        defer { state.waiters = [] }
        return state.waiters
    }

    // MARK: -

    private func perform(_ actions: ConnectionPool<PendingRequest>.Actions) {
        if !actions.failed.isEmpty {
            let failure = HTTPFailure(fate: .notSent, reason: actions.failure ?? "connection_lost")
            actions.failed.map { pending in
                let exchange = HTTPExchange(id: pending.request.id, result: .failure(failure), duration: .zero)
                return EndedRequest(call: pending.call, exchange: exchange)
            }.deliver()
        }
        if !actions.wake.isEmpty {
            let woken = self.state.withLock { state in actions.wake.compactMap { state.connections[$0] } }
            for connection in woken { connection.wake() }
        }
        for id in actions.open { self.open(id) }
    }

    private func open(_ id: Int) {
        // Those that ended are joined here, so that a long life with many connections leaves no threads behind.
        let ended = self.state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        for connection in ended { connection.join() }
        do throws(CurlSetupError) {
            let connection = try CurlConnection(
                body: { [self] multi in
                    CurlLoop(multi: multi, configuration: self.configuration).run { news in self.turn(id, news) }
                },
                ended: { [self] in self.threadEnded(id) }
            )
            let waiters = self.state.withLock { state in
                if state.endedEarly.remove(id) != nil {
                    state.ended.append(connection)
                } else {
                    state.connections[id] = connection
                }
                return Self.takeWaiters(&state)
            }
            for waiter in waiters { waiter.resume() }
            // Whatever was meant to wake it before it could be found.
            connection.wake()
        } catch {
            self.failOpening(id)
        }
    }

    /// No thread or no memory: what was meant for the connection fails as if it could not connect.
    private func failOpening(_ id: Int) {
        let (turn, actions) = self.state.withLock { state in
            state.pool.turn(id, report: ConnectionReport(), returned: [], now: .now)
        }
        let report = ConnectionReport(ended: turn.work.count, breakage: "no_resources")
        var (_, rest) = self.state.withLock { state in
            state.pool.turn(id, report: report, returned: [], now: .now)
        }
        rest.failed += turn.work
        rest.failure = rest.failure ?? "no_resources"
        self.perform(actions)
        self.perform(rest)
    }
}
