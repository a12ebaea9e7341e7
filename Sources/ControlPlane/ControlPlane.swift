package import HTTPServer

/// What a worker offers to people and to other programs over HTTP: the webhook, health and metrics, the dashboard, the
/// JSON API.
///
/// It has its own sessions with the database and its own server: whatever is asked of it, sends do not wait.
package final class ControlPlane: Sendable {
    private let server: HTTPServer
    private let sessions: ControlSessions
    private let live: LiveEvents
    private let bulk: BulkRunner

    /// Where it listens, with the port it got.
    package var address: String { self.server.address }
    package var port: UInt16 { self.server.port }

    /// Opens the port; the database is asked for only when somebody asks for something.
    ///
    /// - Throws: `ListenError`, which names the address and what is in the way.
    package static func start(_ configuration: ControlPlaneConfiguration) throws(ListenError) -> ControlPlane {
        let sessions = ControlSessions(configuration.database)
        let queue = QueueAccess(
            sessions: sessions, source: configuration.source, lifetime: configuration.lifetime)
        let live = LiveEvents(queue: queue, log: configuration.log)
        let bulk = BulkRunner(queue: queue, wake: configuration.wake, log: configuration.log)
        let handler = ControlHandler(configuration, queue: queue, sessions: sessions, live: live, bulk: bulk)
        let server = try HTTPServer.start(ServerConfiguration(address: configuration.address), handler: handler)
        bulk.begin()
        return ControlPlane(server: server, sessions: sessions, live: live, bulk: bulk)
    }

    private init(server: HTTPServer, sessions: ControlSessions, live: LiveEvents, bulk: BulkRunner) {
        self.server = server
        self.sessions = sessions
        self.live = live
        self.bulk = bulk
    }

    package var statistics: ServerStatistics { self.server.statistics }

    /// Ends the event streams, lets what runs finish within `limit`, and leaves bulk actions for another to go on with.
    package func stop(within limit: Duration) async {
        await self.live.stop()
        await self.server.stop(within: limit)
        await self.bulk.stop()
        await self.sessions.close()
    }
}
