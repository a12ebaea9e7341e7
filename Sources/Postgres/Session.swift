private import CLibPQ
private import Glibc

/// One `PGconn`: every call of libpq that may wait, each under a deadline.
///
/// Not Sendable, as a `PGconn` must not be used by two threads at once; `PostgresConnection` keeps it on its queue.
/// After an error that is a connection loss the session is in an unknown state and must be given up.
final class Session {
    let connection: OpaquePointer
    private let notices: NoticeReceiver
    private let redaction: Redaction

    /// Connects to one address (or to the list in `parameters`, as libpq walks it).
    ///
    /// - Throws: `.connection` or `.timedOut`; `.closed` if `interrupter` was called.
    init(
        parameters: [String: String], notices: NoticeReceiver, redaction: Redaction, deadline: Deadline,
        interrupter: Interrupter
    ) throws(PostgresError) {
        var keywords = CStringList()
        var values = CStringList()
        for (keyword, value) in parameters {
            keywords.append(keyword)
            values.append(value)
        }
        keywords.appendNull()
        values.appendNull()
        let started = keywords.withPointers { keywords in
            values.withPointers { values in PQconnectStartParams(keywords, values, 0) }
        }
        guard let started else { throw .connection("out of memory") }
        // From here on `deinit` finishes the connection, also when this initialiser throws.
        self.connection = started
        self.notices = notices
        self.redaction = redaction
        notices.install(on: started)
        // A refused connection has no result to ask for its SQLSTATE: with this it stands in the message.
        PQsetErrorVerbosity(started, PQERRORS_VERBOSE)
        try self.finishConnecting(to: parameters["host"], deadline, interrupter)
        PQsetErrorVerbosity(started, PQERRORS_DEFAULT)
        guard PQsetnonblocking(started, 1) == 0 else { throw self.lost() }
    }

    deinit {
        PQfinish(self.connection)
    }

    private func finishConnecting(
        to host: String?, _ deadline: Deadline, _ interrupter: Interrupter
    ) throws(PostgresError) {
        guard PQstatus(self.connection) != CONNECTION_BAD else { throw self.refused() }
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard status != PGRES_POLLING_FAILED else { throw self.refused() }
            let events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT
            // The socket is asked for each time: libpq opens another for the next address.
            switch deadline.wait(for: events, on: PQsocket(self.connection), orInterruptionOf: interrupter) {
            case .ready: status = PQconnectPoll(self.connection)
            case .interrupted: throw PostgresError(.closed, message: "the attempt to connect was interrupted")
            case .passed:
                throw .timedOut("no connection to \(host ?? "the default host") within \(deadline.limit)")
            }
        }
    }

    // MARK: - Statements

    /// Sends one statement with its parameters and waits for the whole answer.
    func execute(_ query: PostgresQuery, deadline: Deadline) throws(PostgresError) -> QueryResult {
        if let fault = query.fault { throw fault }
        guard !query.sql.utf8.contains(0) else { throw .invalidParameter("SQL with the character U+0000") }
        guard query.parameters.count <= PQ_QUERY_PARAM_MAX_LIMIT else {
            throw .invalidParameter("\(query.parameters.count) parameters; \(PQ_QUERY_PARAM_MAX_LIMIT) are allowed")
        }
        // Types are left to the server (nil), everything is text (nil, and 0 for the result).
        let isSent = query.parameters.withPointers { values in
            PQsendQueryParams(self.connection, query.sql, Int32(values.count), nil, values, nil, nil, 0)
        }
        guard isSent == 1 else { throw self.lost() }
        guard let result = try self.finish(deadline) else {
            throw PostgresError(.decoding, message: "the server gave no result")
        }
        return result
    }

    /// Sends a text of several statements; answers are dropped. Without BEGIN they are one transaction.
    func run(script: String, deadline: Deadline) throws(PostgresError) {
        guard !script.utf8.contains(0) else { throw .invalidParameter("SQL with the character U+0000") }
        guard PQsendQuery(self.connection, script) == 1 else { throw self.lost() }
        _ = try self.finish(deadline)
    }

    /// Sends what is buffered and reads to the end of the answer; the last result, or the first error.
    private func finish(_ deadline: Deadline) throws(PostgresError) -> QueryResult? {
        try self.flush(deadline)
        var last: QueryResult?
        var failure: PostgresError?
        while let pointer = try self.nextResult(deadline, after: failure) {
            let status = PQresultStatus(pointer)
            let result = QueryResult(takingOwnershipOf: pointer)
            switch status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: last = result
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                // libpq would repeat this result until the copy is done.
                throw .connection("COPY is not supported; the connection was given up")
            default:
                let error = withExtendedLifetime(result) { self.error(from: pointer) }
                failure = failure ?? error
                if error.isConnectionLoss { throw failure ?? error }
            }
        }
        if let failure { throw failure }
        return last
    }

    private func flush(_ deadline: Deadline) throws(PostgresError) {
        while true {
            switch PQflush(self.connection) {
            case 0: return
            case 1:
                // Also reads: a server that waits for its own answer to be taken does not take the rest of ours.
                guard case .ready = deadline.wait(for: POLLIN | POLLOUT, on: PQsocket(self.connection)) else {
                    throw self.silent(deadline)
                }
                guard PQconsumeInput(self.connection) == 1 else { throw self.lost() }
            default: throw self.lost()
            }
        }
    }

    /// The next result, `nil` at the end of the answer. `failure` is what the server said so far: its "terminating
    /// connection due to …" tells more than the end of the stream that follows it.
    private func nextResult(_ deadline: Deadline, after failure: PostgresError?) throws(PostgresError) -> OpaquePointer?
    {
        while PQisBusy(self.connection) == 1 {
            guard case .ready = deadline.wait(for: POLLIN, on: PQsocket(self.connection)) else {
                throw self.silent(deadline)
            }
            guard PQconsumeInput(self.connection) == 1 else { throw self.lost(after: failure) }
        }
        return PQgetResult(self.connection)
    }

    // MARK: - Notifications

    /// The next notification that has arrived, without waiting.
    func takeNotification() -> PostgresNotification? {
        guard let pointer = PQnotifies(self.connection) else { return nil }
        defer { PQfreemem(pointer) }
        return PostgresNotification(
            channel: pointer.pointee.relname.map { String(cString: $0) } ?? "",
            payload: pointer.pointee.extra.map { String(cString: $0) } ?? "",
            senderPID: Int(pointer.pointee.be_pid)
        )
    }

    /// Waits for a notification; `nil` if none came in time, or `interrupter` was called.
    func nextNotification(
        deadline: Deadline, interrupter: Interrupter
    ) throws(PostgresError) -> PostgresNotification? {
        while true {
            if let notification = self.takeNotification() { return notification }
            switch deadline.wait(for: POLLIN, on: PQsocket(self.connection), orInterruptionOf: interrupter) {
            case .passed, .interrupted: return nil
            case .ready:
                let isOpen = PQconsumeInput(self.connection) == 1
                // What came before the end of the stream is handed out first.
                if let notification = self.takeNotification() { return notification }
                guard isOpen else { throw self.lost() }
            }
        }
    }

    // MARK: - Facts

    var backendPID: Int { Int(PQbackendPID(self.connection)) }
    var serverVersion: Int { Int(PQserverVersion(self.connection)) }
    var isInTransaction: Bool { PQtransactionStatus(self.connection) != PQTRANS_IDLE }

    func parameterStatus(_ name: String) -> String? {
        PQparameterStatus(self.connection, name).map { String(cString: $0) }
    }

    // MARK: - Errors

    private func silent(_ deadline: Deadline) -> PostgresError {
        .timedOut("no answer within \(deadline.limit); the connection was closed")
    }

    private func lost(after failure: PostgresError? = nil) -> PostgresError {
        .connection(failure?.message ?? self.message.text, sqlState: failure?.sqlState)
    }

    private func refused() -> PostgresError {
        let (text, sqlState) = self.message
        // A password that is missing is found out on this side, so it has no state; that of a wrong one says the same.
        let isMissingPassword = PQconnectionNeedsPassword(self.connection) == 1
        return .connection(text, sqlState: sqlState ?? (isMissingPassword ? "28P01" : nil))
    }

    /// libpq's own message in one line, and the SQLSTATE that stands in it when it is verbose.
    private var message: (text: String, sqlState: String?) {
        let message = PQerrorMessage(self.connection).map { String(cString: $0) } ?? ""
        return ServerMessage.read(self.redaction(message))
    }

    private func error(from result: OpaquePointer) -> PostgresError {
        let error = ServerMessage.error(from: result, redaction: self.redaction)
        return PQstatus(self.connection) == CONNECTION_BAD ? self.lost(after: error) : error
    }
}
