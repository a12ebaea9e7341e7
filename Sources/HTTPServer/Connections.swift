internal import Glibc
private import Locking

/// The open connections, what each is at, and by when it has to be done with it.
///
/// The library only knows how long a connection has been silent. Whoever sends a byte a second is never silent, so the
/// time for a whole request is kept here.
final class Connections: Sendable {
    enum Phase {
        /// Nothing of a request has come.
        case idle
        /// A request is arriving.
        case reading
        case handling(Exchange)
        case writing
        case streaming(EventStream)
    }

    private struct Entry {
        let descriptor: Int32
        var phase: Phase
        var deadline: ContinuousClock.Instant?
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var lastID = 0
        var isStopping = false
        var statistics = ServerStatistics()
    }

    private let state = Locked(State())
    private let configuration: ServerConfiguration

    init(_ configuration: ServerConfiguration) {
        self.configuration = configuration
    }

    // MARK: - Told by the library's thread

    /// - Returns: the connection's id, above 0.
    func opened(_ descriptor: Int32) -> Int {
        // What was sent and is not acknowledged ends the connection after this many milliseconds.
        var milliseconds: UInt32 = 20_000
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<UInt32>.size))
        return self.state.withLock { state in
            state.lastID += 1
            state.entries[state.lastID] = Entry(
                descriptor: descriptor, phase: .idle, deadline: .now + self.configuration.requestLimit)
            return state.lastID
        }
    }

    func began(_ id: Int) {
        self.state.withLock { state in
            state.statistics.requests += 1
            state.entries[id]?.phase = .reading
        }
    }

    /// - Returns: false when the server is stopping: nothing more is begun.
    func handles(_ id: Int, _ exchange: Exchange) -> Bool {
        self.state.withLock { state in
            guard !state.isStopping else { return false }
            state.entries[id]?.phase = .handling(exchange)
            state.entries[id]?.deadline = .now + self.configuration.handlerLimit
            return true
        }
    }

    func answers(_ id: Int, with stream: EventStream?) {
        let isStopping = self.state.withLock { state in
            state.entries[id]?.phase = if let stream { .streaming(stream) } else { .writing }
            state.entries[id]?.deadline = stream == nil ? .now + self.configuration.answerLimit : nil
            return state.isStopping
        }
        if isStopping { stream?.close() }
    }

    func completed(_ id: Int) {
        self.state.withLock { state in
            state.entries[id]?.phase = .idle
            state.entries[id]?.deadline = .now + self.configuration.idleLimit + self.configuration.requestLimit
            // The answer has gone out; the next request would only be told to go elsewhere.
            if state.isStopping, let entry = state.entries[id] { shutdown(entry.descriptor, Int32(SHUT_RD)) }
        }
    }

    /// Called before the descriptor is closed: after it, nobody uses that number any more.
    func closed(_ id: Int) {
        self.state.withLock { $0.entries[id] = nil }
    }

    // MARK: - Seen from outside

    var isStopping: Bool { self.state.withLock { $0.isStopping } }

    var statistics: ServerStatistics {
        self.state.withLock { state in
            var statistics = state.statistics
            statistics.connections = state.entries.count
            for entry in state.entries.values {
                switch entry.phase {
                case .handling: statistics.running += 1
                case .streaming: statistics.eventStreams += 1
                case .idle, .reading, .writing: break
                }
            }
            return statistics
        }
    }

    /// Cuts off who took too long and keeps the streams alive; called several times a second.
    func sweep() {
        let now = ContinuousClock.now
        var late: [Exchange] = []
        var streams: [EventStream] = []
        var abandoned: [EventStream] = []
        self.state.withLock { state in
            for (id, entry) in state.entries {
                if case .streaming(let stream) = entry.phase {
                    if stream.overflowed {
                        shutdown(entry.descriptor, Int32(SHUT_RDWR))
                        state.statistics.cutOff += 1
                        state.entries[id]?.phase = .writing
                    } else if Self.hasHungUp(entry.descriptor) {
                        abandoned.append(stream)
                    } else {
                        streams.append(stream)
                    }
                }
                guard let deadline = entry.deadline, deadline <= now else { continue }
                switch entry.phase {
                case .handling(let exchange): late.append(exchange)
                case .idle, .reading, .writing:
                    shutdown(entry.descriptor, Int32(SHUT_RDWR))
                    state.statistics.cutOff += 1
                case .streaming: break
                }
                // Once is enough: the library closes it when it next looks.
                state.entries[id]?.deadline = nil
            }
        }
        // Outside the lock: these call the library.
        for exchange in late { exchange.giveUp() }
        for stream in abandoned { stream.close() }
        for stream in streams { stream.keepAlive(every: self.configuration.keepAliveInterval) }
    }

    /// Whether the peer has closed its side. The library does not look at a connection that is suspended.
    private static func hasHungUp(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
    }

    /// Begins nothing new, ends the streams and the connections that wait for a request.
    func stop() {
        var streams: [EventStream] = []
        self.state.withLock { state in
            state.isStopping = true
            for entry in state.entries.values {
                switch entry.phase {
                case .idle: shutdown(entry.descriptor, Int32(SHUT_RDWR))
                case .streaming(let stream): streams.append(stream)
                case .reading, .handling, .writing: break
                }
            }
        }
        for stream in streams { stream.close() }
    }

    /// Answers what still runs with 503, and cuts off the rest.
    func abandon() {
        var running: [Exchange] = []
        self.state.withLock { state in
            for entry in state.entries.values {
                if case .handling(let exchange) = entry.phase {
                    running.append(exchange)
                } else {
                    shutdown(entry.descriptor, Int32(SHUT_RDWR))
                }
            }
        }
        for exchange in running { exchange.giveUp() }
    }

    var isEmpty: Bool { self.state.withLock { $0.entries.isEmpty } }
}
