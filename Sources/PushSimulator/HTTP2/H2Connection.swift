internal import Glibc

/// One accepted socket: TLS below, an HTTP/2 session above, and the bytes in between. Belongs to the server's thread.
final class H2Connection {
    let id: Int
    let listener: Int
    let socket: Int32
    let options: H2ConnectionOptions
    let session: H2Session
    let openedAt: ContinuousClock.Instant
    private(set) var isHandshaking = true
    /// Set when the socket did not take everything: the loop then waits until it is writable.
    private(set) var wantsWrite = false
    /// Set when the session cannot go on; the connection ends as soon as its last words are out.
    private var hasFailed = false
    var lastRequestAt: ContinuousClock.Instant
    /// What epoll was last told to wait for.
    var registeredEvents: UInt32 = 0

    private let tls: TLSConnection
    private var output: [UInt8] = []
    private var outputSent = 0

    /// About four TLS records are gathered before they are written.
    private static let outputLimit = 64 * 1024
    /// Reads in a row before other connections get their turn.
    private static let readsPerTurn = 16

    enum Progress {
        /// Nothing more for now.
        case idle
        /// There may be more to read at once.
        case more
        /// The connection is over.
        case closed
    }

    /// Nil when there is no memory; the caller closes the socket then. Otherwise the connection owns it.
    init?(
        id: Int, listener: Int, socket: Int32, context: TLSServerContext, options: H2ConnectionOptions,
        now: ContinuousClock.Instant
    ) {
        guard let tls = context.makeConnection(socket: socket),
            let session = H2Session(connection: id, listener: listener, options: options)
        else { return nil }
        self.id = id
        self.listener = listener
        self.socket = socket
        self.options = options
        self.session = session
        self.tls = tls
        self.openedAt = now
        self.lastRequestAt = now
    }

    /// Reads what there is and feeds the session; requests that completed wait in it.
    func read(using buffer: UnsafeMutableRawBufferPointer) -> Progress {
        if self.isHandshaking {
            switch self.handshake() {
            case .idle: return .idle
            case .closed: return .closed
            // The server's SETTINGS go out before the first request is looked at, as a server's should.
            case .more: if case .closed = self.flush() { return .closed }
            }
        }
        for _ in 0..<Self.readsPerTurn {
            switch self.tls.read(into: buffer) {
            case .bytes(let count):
                guard self.session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else {
                    self.hasFailed = true
                    return .idle
                }
            case .wantsRead, .wantsWrite: return .idle
            case .closed: return .closed
            }
        }
        return .more
    }

    private func handshake() -> Progress {
        switch self.tls.handshake() {
        case .bytes:
            self.isHandshaking = false
            self.wantsWrite = false
            return self.options.requiresALPN && !self.tls.negotiatedHTTP2 ? .closed : .more
        case .wantsRead:
            self.wantsWrite = false
            return .idle
        case .wantsWrite:
            self.wantsWrite = true
            return .idle
        case .closed: return .closed
        }
    }

    /// Sends what the session has to say, as far as the socket takes it.
    func flush() -> Progress {
        guard !self.isHandshaking else { return .idle }
        self.wantsWrite = false
        while true {
            if self.outputSent == self.output.count {
                self.output.removeAll(keepingCapacity: true)
                self.outputSent = 0
                guard self.session.nextBytes(&self.output, limit: Self.outputLimit) else { return .closed }
                guard !self.output.isEmpty else { return self.hasFailed || self.session.isFinished ? .closed : .idle }
            }
            let result = self.output.withUnsafeBytes { self.tls.write(.init(rebasing: $0[self.outputSent...])) }
            switch result {
            case .bytes(let count): self.outputSent += count
            case .wantsWrite, .wantsRead:
                self.wantsWrite = true
                return .idle
            case .closed: return .closed
            }
        }
    }

    /// Closes the socket; nothing may be called afterwards.
    ///
    /// - Parameter abruptly: with a TCP reset, so that the client sees the connection die.
    func close(abruptly: Bool) {
        if abruptly {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(self.socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        } else if !self.isHandshaking {
            self.tls.shutdown()
        }
        _ = Glibc.close(self.socket)
    }
}
