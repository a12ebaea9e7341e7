/// One session with PostgreSQL.
///
/// An actor on a queue of its own: calls come one after the other, and while one waits for the server it holds that
/// queue's thread only. Every call ends by its deadline, also when the network swallows packets. A connection that was
/// lost stays closed; make a new one.
package actor PostgresConnection {
    private let executor: QueueExecutor
    private let configuration: PostgresConfiguration
    /// Readable from any thread, as `interrupt` must not queue up behind the wait it ends.
    private let interrupter = Interrupter()
    private var session: Session?
    /// Why `session` is gone, for those who call later.
    private var reason = "it was never opened"

    package nonisolated var unownedExecutor: UnownedSerialExecutor { self.executor.asUnownedSerialExecutor() }

    private init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
        self.executor = QueueExecutor(label: "postgres")
    }

    /// Connects to the first host of the list that will have us, and makes the session's settings.
    ///
    /// Cancelling the task ends the attempt.
    ///
    /// - Throws: `.connection`, `.timedOut`, `.server` if a setting is refused, `.closed` if cancelled.
    package static func connect(
        _ configuration: PostgresConfiguration
    ) async throws(PostgresError) -> PostgresConnection {
        let connection = PostgresConnection(configuration)
        let outcome = await withTaskCancellationHandler {
            await connection.open()
        } onCancel: {
            connection.interrupt()
        }
        try outcome.get()
        return connection
    }

    private func open() -> Result<Void, PostgresError> {
        var failures: [PostgresError] = []
        for (parameters, limit) in self.configuration.attempts {
            do throws(PostgresError) {
                let session = try Session(
                    parameters: parameters, notices: NoticeReceiver(self.configuration.onNotice),
                    redaction: self.configuration.redaction, deadline: Deadline(after: limit),
                    interrupter: self.interrupter
                )
                _ = try session.execute(self.configuration.sessionQuery, deadline: Deadline(after: limit))
                self.session = session
                return .success(())
            } catch {
                failures.append(error)
                guard error.isConnectionLoss, error.code != .closed else { break }
            }
        }
        return .failure(PostgresError.summary(of: failures))
    }

    // MARK: - Statements

    /// Runs one statement.
    ///
    /// - Parameter deadline: the longest to wait; `nil` is the configuration's. When it passes the connection is closed,
    ///   as nothing else ends a wait on a dead network. The server works on, so set its `statement_timeout` below this,
    ///   and `client_connection_check_interval` to have it notice.
    /// - Throws: `.server` if the statement failed; after `.connection` and `.timedOut` its outcome is unknown and the
    ///   connection closed; `.invalidParameter` before anything was sent; `.closed`.
    @discardableResult
    package func query(_ query: PostgresQuery, deadline: Duration? = nil) throws(PostgresError) -> PostgresRows {
        try self.withSession { session throws(PostgresError) in
            PostgresRows(try session.execute(query, deadline: self.deadline(deadline)))
        }
    }

    /// Runs one statement in a transaction of its own, in one turn: no other statement gets in between.
    ///
    /// - Parameter beginning: SQL that begins it, and makes settings for it with `set local`. Unlike a session's they are
    ///   gone with it, also behind a transaction pooler, which hands its server sessions on as they were left.
    package func query(_ query: PostgresQuery, inTransaction beginning: String) throws(PostgresError) -> PostgresRows {
        do throws(PostgresError) {
            try self.run(script: beginning)
            let rows = try self.query(query)
            try self.run(script: "commit")
            return rows
        } catch {
            // The first error is the one to tell; a lost connection rolls back by itself.
            do throws(PostgresError) { try self.run(script: "rollback") } catch {}
            throw error
        }
    }

    /// Runs a text of several statements, as a migration is; one transaction, unless it has BEGIN and COMMIT of its own:
    /// then a failure leaves that transaction open.
    package func run(script: String, deadline: Duration? = nil) throws(PostgresError) {
        try self.withSession { session throws(PostgresError) in
            try session.run(script: script, deadline: self.deadline(deadline))
        }
    }

    /// Whether the server answers within `limit`. If it does not, the connection is closed.
    package func isAlive(within limit: Duration) -> Bool {
        do throws(PostgresError) {
            try self.query("select 1", deadline: limit)
            return true
        } catch {
            // An answer is a sign of life, also "current transaction is aborted".
            return !error.isConnectionLoss
        }
    }

    // MARK: - Notifications

    /// Subscribes to a channel, in its own transaction.
    package func listen(to channel: String) throws(PostgresError) {
        try self.query("listen \(identifier: channel)")
    }

    /// Waits for the next notification; those that came during a statement, or several at once, are kept in order.
    ///
    /// - Returns: `nil` if none came within `limit`, or the wait was ended by `interrupt` or the task's cancellation.
    package func nextNotification(within limit: Duration) async throws(PostgresError) -> PostgresNotification? {
        let interrupter = self.interrupter
        let outcome: Result<PostgresNotification?, PostgresError> = await withTaskCancellationHandler {
            self.takeNextNotification(within: limit)
        } onCancel: {
            interrupter.interrupt()
        }
        return try outcome.get()
    }

    private func takeNextNotification(within limit: Duration) -> Result<PostgresNotification?, PostgresError> {
        do throws(PostgresError) {
            return .success(
                try self.withSession { session throws(PostgresError) in
                    try session.nextNotification(deadline: Deadline(after: limit), interrupter: self.interrupter)
                }
            )
        } catch {
            return .failure(error)
        }
    }

    /// The notifications that have been read from the socket already, without waiting.
    package func pendingNotifications() -> [PostgresNotification] {
        var notifications: [PostgresNotification] = []
        while let notification = self.session?.takeNotification() { notifications.append(notification) }
        return notifications
    }

    /// Ends the wait of `nextNotification` from any thread; the next one, if none is under way.
    package nonisolated func interrupt() {
        self.interrupter.interrupt()
    }

    // MARK: - State

    /// Ends the session. May be called again, and at any time; calls that come later throw `.closed`.
    package func close() {
        guard self.session != nil else { return }
        self.session = nil
        self.reason = "it was closed"
    }

    package var isOpen: Bool { self.session != nil }

    /// Whether a transaction is open, also a failed one.
    package var isInTransaction: Bool { self.session?.isInTransaction ?? false }

    /// The process id of the server's side, as in `pg_stat_activity`; `nil` once closed.
    package var backendPID: Int? { self.session?.backendPID }

    /// As libpq counts: 150020 is 15.20; `nil` once closed.
    package var serverVersion: Int? { self.session?.serverVersion }

    /// A setting the server reports by itself, such as `in_hot_standby`, `session_authorization` or `TimeZone`.
    package func parameterStatus(_ name: String) -> String? { self.session?.parameterStatus(name) }

    private func deadline(_ limit: Duration?) -> Deadline {
        Deadline(after: limit ?? self.configuration.queryDeadline)
    }

    private func withSession<Value>(
        _ body: (Session) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        guard let session else { throw PostgresError(.closed, message: self.reason) }
        do throws(PostgresError) {
            return try body(session)
        } catch {
            if error.isConnectionLoss {
                self.session = nil
                self.reason = "it was lost before: \(error.message)"
            }
            throw error
        }
    }
}
