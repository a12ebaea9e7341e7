internal import Glibc
internal import Locking

/// HTTP/2 over TLS on loopback ports, on one thread of its own. HTTP/1.1 is not spoken: such a connection is closed.
final class H2Server: Sendable {
    /// The ports in use, in the order in which they were asked for.
    let ports: [Int]
    private let wake: WakeSignal
    private let commands: Locked<[H2Command]>
    private let state: Locked<ThreadState>

    /// Opens `ports` (0: the system chooses); connections wait until ``start(listeners:certificates:handler:maxConnections:)``.
    static func listen(ports: [Int]) throws(ListenError) -> [ListeningSocket] {
        var listeners: [ListeningSocket] = []
        for port in ports { listeners.append(try ListeningSocket(port: port)) }
        return listeners
    }

    /// Starts the thread.
    static func start(
        listeners: [ListeningSocket], certificates: SimulatorCertificates, handler: any H2Handler, maxConnections: Int
    ) throws -> H2Server {
        guard let poller = Poller(), let wake = WakeSignal() else { throw ServerStartError.noDescriptor }
        let server = H2Server(ports: listeners.map(\.port), wake: wake)
        let loop = H2EventLoop(
            listeners: listeners, poller: poller, wake: wake, commands: server.commands,
            context: try TLSServerContext(certificates), handler: handler, maxConnections: maxConnections)
        try server.startThread(loop)
        return server
    }

    private init(ports: [Int], wake: WakeSignal) {
        self.ports = ports
        self.wake = wake
        self.commands = Locked([])
        self.state = Locked(ThreadState())
    }

    deinit {
        // Only when nobody called `stop()`: the thread must not outlive the server.
        guard let thread = self.state.withLock({ $0.thread }) else { return }
        self.post(.stop)
        pthread_join(thread, nil)
    }

    func post(_ command: H2Command) {
        self.commands.withLock { $0.append(command) }
        self.wake.raise()
    }

    /// Says GOAWAY everywhere, closes everything and ends the thread. May be called more than once.
    func stop() async {
        self.post(.stop)
        await withCheckedContinuation { continuation in
            let hasEnded = self.state.withLock { state in
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        // The thread has said its last word, so this does not wait.
        let thread = self.state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        if let thread { pthread_join(thread, nil) }
    }

    private func startThread(_ loop: H2EventLoop) throws {
        let start = Unmanaged.passRetained(ThreadStart(loop: loop, state: self.state))
        var thread = pthread_t()
        guard pthread_create(&thread, nil, threadMain, start.toOpaque()) == 0 else {
            start.release()
            throw ServerStartError.noThread
        }
        self.state.withLock { $0.thread = thread }
    }
}

/// What the thread is given. It holds the loop, not the server: a server nobody holds any more stops.
private final class ThreadStart {
    let loop: H2EventLoop
    let state: Locked<ThreadState>

    init(loop: H2EventLoop, state: Locked<ThreadState>) {
        self.loop = loop
        self.state = state
    }
}

private struct ThreadState {
    var thread: pthread_t?
    var hasEnded = false
    var waiters: [CheckedContinuation<Void, Never>] = []
}

/// The thread's main function; takes over the reference made in `startThread`. Free, so that it has no isolation.
private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    // Writing to a connection that the client has closed must fail with EPIPE, not end the process. Blocked for
    // this thread alone: the rest of the process keeps its own ways.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let state = serve(context)
    let waiters = state.withLock { state in
        state.hasEnded = true
        defer { state.waiters.removeAll() }
        return state.waiters
    }
    for waiter in waiters { waiter.resume() }
    return nil
}

/// A function of its own, so that the loop is gone, sockets closed, before anyone hears that the server stopped.
private func serve(_ context: UnsafeMutableRawPointer) -> Locked<ThreadState> {
    let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
    start.loop.run()
    return start.state
}

/// The system had no room for a server.
package enum ServerStartError: Error, Equatable, CustomStringConvertible {
    case noDescriptor
    case noThread

    package var description: String {
        switch self {
        case .noDescriptor: "the system has no file descriptor left for the simulator; see ulimit -n"
        case .noThread: "the system refused a thread for the simulator"
        }
    }
}
