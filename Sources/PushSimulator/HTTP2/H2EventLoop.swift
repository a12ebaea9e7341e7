internal import Glibc
internal import Locking

/// What other threads ask of the server's thread.
enum H2Command: Sendable {
    /// GOAWAY on every open connection.
    case goawayAll(code: UInt32, debugData: String)
    /// A TCP reset of every open connection.
    case abortAll
    case stop
}

/// The server's thread: sockets, connections, timers. Everything in it is touched by that thread alone.
final class H2EventLoop {
    private let listeners: [ListeningSocket]
    private let poller: Poller
    private let wake: WakeSignal
    private let commands: Locked<[H2Command]>
    private let context: TLSServerContext
    private let handler: any H2Handler
    private let maxConnections: Int
    private let clock = ContinuousClock()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    private var connections: [Int: H2Connection] = [:]
    private var timers = TimerQueue<H2Action>()
    private var nextConnection = 1
    /// Connections with more to read than one turn allowed.
    private var unfinished: Set<Int> = []
    private var lastSweep: ContinuousClock.Instant
    private var isStopping = false

    private static let wakeKey = 0
    private static let handshakeLimit = Duration.seconds(10)
    private static let sweepInterval = Duration.seconds(1)
    /// How long a client has to leave after a GOAWAY.
    private static let drainLimit = Duration.seconds(5)

    init(
        listeners: [ListeningSocket], poller: Poller, wake: WakeSignal, commands: Locked<[H2Command]>,
        context: TLSServerContext, handler: any H2Handler, maxConnections: Int
    ) {
        self.listeners = listeners
        self.poller = poller
        self.wake = wake
        self.commands = commands
        self.context = context
        self.handler = handler
        self.maxConnections = maxConnections
        self.lastSweep = self.clock.now
    }

    deinit { self.buffer.deallocate() }

    /// Serves until ``H2Command/stop``.
    func run() {
        self.poller.add(self.wake.descriptor, key: Self.wakeKey, events: Poller.readable)
        for (index, listener) in self.listeners.enumerated() {
            self.poller.add(listener.descriptor, key: -1 - index, events: Poller.readable)
        }
        while !self.isStopping { self.turn() }
        for connection in self.connections.values {
            connection.session.goaway(code: 0, debugData: "")
            _ = connection.flush()
            connection.close(abruptly: false)
        }
        self.connections.removeAll()
    }

    private func turn() {
        let keys = self.poller.wait(timeout: self.timeout())
        let again = self.unfinished
        self.unfinished.removeAll(keepingCapacity: true)
        for key in keys {
            if key == Self.wakeKey {
                self.wake.lower()
            } else if key < 0 {
                self.accept(-1 - key)
            } else if let connection = self.connections[key] {
                self.serve(connection)
            }
        }
        for id in again where !keys.contains(id) {
            if let connection = self.connections[id] { self.serve(connection) }
        }
        self.runCommands()
        let now = self.clock.now
        while let action = self.timers.popDue(now) {
            guard let connection = self.connections[action.connection] else { continue }
            self.perform(action, on: connection)
            self.flush(connection)
        }
        if now - self.lastSweep >= Self.sweepInterval { self.sweep(now) }
    }

    /// Milliseconds until there is something to do without any event; a second at most, for the sweep.
    private func timeout() -> Int32 {
        guard self.unfinished.isEmpty else { return 0 }
        guard let due = self.timers.nextDue else { return 1000 }
        let wait = (due - self.clock.now) / .milliseconds(1)
        return Int32(min(max(wait.rounded(.up), 0), 1000))
    }

    // MARK: - Connections

    private func accept(_ index: Int) {
        while let socket = self.listeners[index].accept() {
            guard self.connections.count < self.maxConnections else {
                close(socket)
                continue
            }
            let id = self.nextConnection
            self.nextConnection += 1
            let options = self.handler.opened(connection: id, listener: index)
            guard
                let connection = H2Connection(
                    id: id, listener: index, socket: socket, context: self.context, options: options,
                    now: self.clock.now)
            else {
                close(socket)
                self.handler.closed(connection: id)
                continue
            }
            self.connections[id] = connection
            connection.registeredEvents = Poller.readable
            self.poller.add(socket, key: id, events: Poller.readable)
        }
        // Without this pause a process out of descriptors would turn in circles here.
        if errno == EMFILE || errno == ENFILE { usleep(10_000) }
    }

    private func serve(_ connection: H2Connection) {
        let progress = connection.read(using: self.buffer)
        let fixed = connection.session.answerFixed()
        if fixed > 0 {
            connection.lastRequestAt = self.clock.now
            self.handler.answeredFixed(listener: connection.listener, count: fixed)
        }
        let requests = connection.session.takeRequests()
        if !requests.isEmpty {
            connection.lastRequestAt = self.clock.now
            for action in self.handler.handle(requests) {
                if let delay = action.delay {
                    self.timers.add(action, due: self.clock.now + delay)
                } else {
                    self.perform(action, on: connection)
                }
            }
        }
        guard progress != .closed else { return self.end(connection, abruptly: false) }
        self.flush(connection)
        if progress == .more, self.connections[connection.id] != nil { self.unfinished.insert(connection.id) }
    }

    private func perform(_ action: H2Action, on connection: H2Connection) {
        guard self.connections[connection.id] != nil else { return }
        switch action.kind {
        case .answer(let answer): connection.session.answer(answer, stream: action.stream)
        case .reset(let code, let answer): connection.session.reset(stream: action.stream, code: code, after: answer)
        case .streamLimit(let limit): connection.session.setStreamLimit(limit)
        case .abort: self.end(connection, abruptly: true)
        case .goaway(let goaway):
            connection.session.goaway(goaway)
            let farewell = H2Action(connection: connection.id, stream: 0, kind: .abort)
            self.timers.add(farewell, due: self.clock.now + Self.drainLimit)
        }
    }

    private func flush(_ connection: H2Connection) {
        guard self.connections[connection.id] != nil else { return }
        guard connection.flush() != .closed else { return self.end(connection, abruptly: false) }
        // While the socket takes nothing nothing is read either: a client that does not listen cannot make us pile up.
        let events = connection.wantsWrite ? Poller.writable : Poller.readable
        guard events != connection.registeredEvents else { return }
        connection.registeredEvents = events
        self.poller.modify(connection.socket, key: connection.id, events: events)
    }

    /// Once only: an action may have ended the connection that a read then finds closed.
    private func end(_ connection: H2Connection, abruptly: Bool) {
        guard self.connections.removeValue(forKey: connection.id) != nil else { return }
        self.unfinished.remove(connection.id)
        self.poller.remove(connection.socket)
        connection.close(abruptly: abruptly)
        self.handler.closed(connection: connection.id)
    }

    // MARK: - Between events

    private func runCommands() {
        let commands = self.commands.withLock { commands in
            defer { commands.removeAll() }
            return commands
        }
        for command in commands {
            switch command {
            case .stop: self.isStopping = true
            case .abortAll: for connection in self.connections.values { self.end(connection, abruptly: true) }
            case .goawayAll(let code, let debugData):
                for connection in self.connections.values {
                    self.sendAway(connection, code: code, debugData: debugData)
                }
            }
        }
    }

    private func sendAway(_ connection: H2Connection, code: UInt32, debugData: String) {
        connection.session.goaway(code: code, debugData: debugData)
        self.flush(connection)
    }

    private func sweep(_ now: ContinuousClock.Instant) {
        self.lastSweep = now
        for connection in self.connections.values {
            if connection.isHandshaking {
                if now - connection.openedAt > Self.handshakeLimit { self.end(connection, abruptly: false) }
            } else if let limit = connection.options.maxAge, now - connection.openedAt >= limit {
                self.sendAway(connection, code: 0, debugData: "max_age")
            } else if let limit = connection.options.idleTimeout, now - connection.lastRequestAt >= limit,
                connection.session.openStreams == 0
            {
                self.sendAway(connection, code: 0, debugData: "session_timeout")
            }
        }
    }
}
