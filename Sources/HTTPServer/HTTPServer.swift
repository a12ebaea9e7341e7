private import Dispatch
private import Glibc
private import Locking

/// An HTTP/1.1 server for a few operators and a webhook: libmicrohttpd with its own thread and epoll.
///
/// Has to be stopped: its thread does not end by itself. Speaks no TLS: outside of loopback it belongs behind a reverse proxy that does.
package final class HTTPServer: Sendable {
    /// The port it listens on.
    package let port: UInt16
    /// Where it listens, with the port it got.
    package let address: String
    private let connections: Connections
    private let state: Locked<State>

    private struct State {
        var daemon: RunningDaemon?
        var timer: (any DispatchSourceTimer)?
    }

    /// Listens and serves until ``stop(within:)``.
    ///
    /// - Throws: ``ListenError``, which names the address and what is in the way.
    package static func start(
        _ configuration: ServerConfiguration, handler: any RequestHandler
    ) throws(ListenError) -> HTTPServer {
        let (descriptor, port) = try configuration.address.listen(backlog: 1024)
        let connections = Connections(configuration)
        let daemon = Daemon(handler: handler, connections: connections)
        guard let running = RunningDaemon(daemon, configuration, listeningOn: descriptor) else {
            close(descriptor)
            throw ListenError(description: "cannot serve on \(configuration.address): libmicrohttpd did not start")
        }
        return HTTPServer(
            running, connections, port: port, address: configuration.address.text(port: port))
    }

    private init(_ daemon: RunningDaemon, _ connections: Connections, port: UInt16, address: String) {
        self.port = port
        self.address = address
        self.connections = connections
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "http-deadlines"))
        timer.schedule(deadline: .now() + .milliseconds(250), repeating: .milliseconds(250), leeway: .milliseconds(50))
        timer.setEventHandler { connections.sweep() }
        timer.resume()
        self.state = Locked(State(daemon: daemon, timer: timer))
    }

    package var statistics: ServerStatistics { self.connections.statistics }

    /// Stops in order: no new connections, event streams end, running handlers have `limit` to finish; what is left then
    /// is answered with 503 or cut off. A second call returns at once.
    package func stop(within limit: Duration) async {
        guard
            let daemon = self.state.withLock({ state in
                defer { state.daemon = nil }
                return state.daemon
            })
        else { return }
        daemon.quiesce()
        self.connections.stop()
        await self.untilEmpty(within: limit)
        self.connections.abandon()
        // What was given up on still has to be sent.
        await self.untilEmpty(within: .milliseconds(500))
        self.state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
        }
        await daemon.stop()
    }

    private func untilEmpty(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while !self.connections.isEmpty, .now < end, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
