import DeliveryQueue
import Locking
import Postgres
import PushModel
import QueueInspection

/// The queue as the control plane reads it.
final class QueueAccess: Sendable {
    let source: SourceSchema
    /// Runs what reads.
    let query: QueueReader.Run
    let reader: QueueReader
    let actions: QueueActions
    private let latest = Locked(Latest())

    private struct Latest {
        var overview: Overview?
        var at = ContinuousClock.now
        /// How often something was done.
        var generation = 0
        /// Whether nothing was done since its reading began.
        var isFresh = false
    }

    /// Whoever asks within this time gets what was read last: however many look, it is read once a second.
    private static let freshness = Duration.milliseconds(900)

    init(
        sessions: ControlSessions, source: SourceSchema, lifetime: @escaping @Sendable (NotificationKind) -> Duration
    ) {
        self.source = source
        self.actions = QueueActions(source: source, database: sessions.acting, lifetime: lifetime)
        let reading = sessions.reading
        self.query = { try await reading.query($0) }
        self.reader = QueueReader(source: source, run: self.query)
    }

    /// Not older than a second.
    func overview() async throws -> Overview {
        let latest = self.latest.withLock { $0 }
        if latest.isFresh, let overview = latest.overview, .now - latest.at < Self.freshness { return overview }
        let overview = try await self.reader.overview()
        self.latest.withLock {
            $0 = Latest(
                overview: overview, at: .now, generation: $0.generation, isFresh: $0.generation == latest.generation)
        }
        return overview
    }

    /// Something was done: what was read before it is not to be shown after it. A reading under way may have begun before;
    /// its values do not stay.
    func forget() {
        self.latest.withLock { latest in
            latest.generation += 1
            latest.isFresh = false
        }
    }

    /// What was read last, however old; for a page while the database does not answer.
    var lastOverview: Overview? { self.latest.withLock { $0.overview } }
}

/// What a failed read means to whom it was for.
struct ReadFailure {
    let status: Int
    /// A sentence for the page; nil where the page's own words do.
    let detail: String?

    init(_ error: any Error) {
        switch error {
        case is ReadingSessions.Busy:
            self.init(503, "Too many pages are being read at once; load it again in a moment.")
        case let error as PostgresError where error.sqlState == "57014":
            self.init(
                503,
                "The database took longer than three seconds for this, so it was stopped. Narrow the search, or see what slows the database down."
            )
        case let error as PostgresError where error.isReadOnly:
            self.init(
                503,
                "The database takes no writes (a standby, or default_transaction_read_only is on), so it is not used: DATABASE_URL must lead to the primary."
            )
        case let error as PostgresError where error.sqlState == "55P03":
            self.init(
                503,
                "Somebody holds a lock on the queue: another operator's action, or a session that changes or locks its tables. Try again in a moment."
            )
        case let error as PostgresError where error.isConnectionLoss || error.isRetryable:
            self.init(503, nil)
        case let error as PostgresError
        where error.sqlState == "42P01" || error.sqlState == "42703" || error.sqlState == "42501":
            self.init(
                503,
                "The schema of the queue is older than this program, or a right is missing: run push-fanout migrate.")
        default: self.init(500, nil)
        }
    }

    private init(_ status: Int, _ detail: String?) {
        self.status = status
        self.detail = detail
    }
}
