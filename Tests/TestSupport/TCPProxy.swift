private import Glibc
private import Locking

/// A network between a client and a server that can be broken: it listens on 127.0.0.1 and leads to a TCP port there or
/// to a Unix socket. One thread, ended by `stop()` or with the last reference.
package final class TCPProxy: Sendable {
    package enum Target: Sendable {
        case port(Int)
        case socket(path: String)
    }

    package struct CannotStart: Error, CustomStringConvertible {
        let reason: String
        package var description: String { "the proxy cannot start: \(self.reason)" }
    }

    /// Where clients connect, on 127.0.0.1; the same after `restore()`.
    package let port: Int
    private let commands: ProxyCommands
    private let thread: Locked<pthread_t?>

    package init(to target: Target) throws {
        let listener = try ProxySocket.listen(port: 0)
        self.port = listener.port
        let wake: (parent: Int32, child: Int32)
        do {
            wake = try Spawn.makeChannel()
        } catch {
            close(listener.descriptor)
            throw error
        }
        ProxySocket.makeNonBlocking(wake.child)
        self.commands = ProxyCommands(wakeDescriptor: wake.parent)
        let loop = ProxyLoop(
            target: target, port: listener.port, listener: listener.descriptor, wake: wake.child,
            commands: self.commands)
        let context = Unmanaged.passRetained(loop)
        var thread = pthread_t()
        guard pthread_create(&thread, nil, runProxy, context.toOpaque()) == 0 else {
            context.release()
            throw CannotStart(reason: "no thread")
        }
        self.thread = Locked(thread)
    }

    deinit { self.stop() }

    /// Resets every connection, on both sides. New ones are taken.
    package func cut() { self.commands.post(.cut) }

    /// Takes connections and everything that is sent, passes nothing on, and answers with nothing, not even an end.
    /// What is caught in it stays dead for good, as behind a firewall that has forgotten the connection; the far side
    /// does not hear of it before `restore()`.
    package func blackhole() { self.commands.post(.blackhole) }

    /// The connections that are open now are dead from here on, as in `blackhole()`; new ones are passed on.
    package func forgetConnections() { self.commands.post(.forget) }

    /// What comes in is passed on so much later; each way for itself.
    package func delay(_ time: Duration) { self.commands.post(.delay(time)) }

    /// Stops to listen: connections are refused. Open ones go on.
    package func refuse() { self.commands.post(.refuse) }

    /// Ends what the other calls began: passes on at once, for new connections and those that were spared.
    package func restore() { self.commands.post(.restore) }

    /// Connections that are open on the client's side.
    package var connectionCount: Int { self.commands.openConnections }

    /// Resets everything and ends the thread. May be called again.
    package func stop() {
        let thread = self.thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let thread else { return }
        self.commands.post(.stop)
        pthread_join(thread, nil)
    }
}

/// The thread's main function; takes over the reference made in `init`. Free, so that it has no isolation.
private func runProxy(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<ProxyLoop>.fromOpaque(context).takeRetainedValue().run()
    return nil
}

/// What other threads ask of the proxy's, in order. Each call has been carried out when it returns, or the proxy has
/// ended: a test may rely on it at once.
final class ProxyCommands: Sendable {
    enum Command: Sendable {
        case cut, blackhole, forget, refuse, restore, stop
        case delay(Duration)
    }

    private struct State {
        var waiting: [Command] = []
        var posted = 0
        var done = 0
        var hasEnded = false
        var openConnections = 0
    }

    private let wakeDescriptor: Int32
    private let state = Locked(State())

    init(wakeDescriptor: Int32) {
        self.wakeDescriptor = wakeDescriptor
    }

    deinit { close(self.wakeDescriptor) }

    var openConnections: Int { self.state.withLock { $0.openConnections } }

    func post(_ command: Command) {
        let number = self.state.withLock { state in
            state.waiting.append(command)
            state.posted += 1
            return state.posted
        }
        var byte: UInt8 = 0
        _ = send(self.wakeDescriptor, &byte, 1, Int32(MSG_NOSIGNAL))
        // The loop never waits for anybody, so this takes microseconds; the bound is for a machine that stands still.
        for _ in 0..<50_000 {
            if self.state.withLock({ $0.done >= number || $0.hasEnded }) { return }
            usleep(100)
        }
    }

    func take() -> [Command] {
        self.state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    func finished(_ count: Int, openConnections: Int) {
        self.state.withLock { state in
            state.done += count
            state.openConnections = openConnections
        }
    }

    func ended() { self.state.withLock { $0.hasEnded = true } }
}
