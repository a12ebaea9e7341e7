import Delivery
import Locking
import Postgres
import QueueInspection

/// The control plane's own ways to the database, apart from the worker's: whatever people look at, sends do not wait
/// for it.
struct ControlSessions: Sendable {
    /// Two for reading; read-only, by the server's word.
    let reading: ReadingSessions
    /// One for the webhook's rows.
    let webhook: DatabaseSession
    /// Where what operators do is done: a connection each, for as long as it takes.
    let acting: PostgresConfiguration

    init(_ database: PostgresConfiguration) {
        var database = database
        database.connectTimeout = min(database.connectTimeout, .seconds(4))
        var lasting = database
        lasting.settings += Worker.sessionSettings
        // Longer than what a read may take, and no longer than the sender of a row waits.
        lasting.queryDeadline = .seconds(4)
        self.reading = ReadingSessions(lasting)
        self.webhook = DatabaseSession(lasting)
        // The settings of its sessions are made by each action.
        database.queryDeadline = .seconds(25)
        self.acting = database
    }

    func close() async {
        await self.reading.close()
        await self.webhook.close()
    }
}

/// Two connections that read; a statement goes to the one with less to do.
final class ReadingSessions: Sendable {
    /// Too much is being read already.
    struct Busy: Error, CustomStringConvertible {
        let description = "too many pages are being read at once"
    }

    private let sessions: [DatabaseSession]
    private let pending = Locked([0, 0])
    /// Statements under way or in line. Each takes three seconds at most, so the last in line waits about a dozen.
    private static let most = 24

    init(_ configuration: PostgresConfiguration) {
        self.sessions = [DatabaseSession(configuration), DatabaseSession(configuration)]
    }

    func query(_ query: PostgresQuery) async throws -> PostgresRows {
        let place = self.pending.withLock { pending -> Int? in
            guard pending[0] + pending[1] < Self.most else { return nil }
            let place = pending[0] <= pending[1] ? 0 : 1
            pending[place] += 1
            return place
        }
        guard let place else { throw Busy() }
        defer { self.pending.withLock { $0[place] -= 1 } }
        return try await self.sessions[place].query(query, inTransaction: QueueReader.beginning)
    }

    func close() async {
        for session in self.sessions { await session.close() }
    }
}
