/// What went wrong between the worker and PostgreSQL.
///
/// `description` is fit for a log: the server's primary message and hint, never a DETAIL (it quotes the row) and never a
/// password. `debugDescription` has the rest, for a developer's own machine.
package struct PostgresError: Error, Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        /// No connection could be made, or it was lost; the outcome of a statement under way is unknown.
        case connection
        /// The server refused the statement.
        case server(sqlState: String)
        /// No answer in the time given; the connection is closed, the outcome of the statement unknown.
        case timedOut
        /// A value of the answer is not what the code expects.
        case decoding
        /// A value cannot be sent: text with U+0000, a date outside PostgreSQL's range, a malformed connection string.
        case invalidParameter
        /// The connection was closed before the call.
        case closed
    }

    package let code: Code
    /// The five characters of the SQL standard, where the server gave them; also for a connection it refused or ended.
    package let sqlState: String?
    /// What happened, in a line.
    package let message: String
    /// DETAIL, CONTEXT and the like: may quote values.
    private let details: String?

    init(_ code: Code, sqlState: String? = nil, message: String, details: String? = nil) {
        self.code = code
        self.sqlState = sqlState
        self.message = message
        self.details = details
    }

    static func connection(_ message: String, sqlState: String? = nil) -> PostgresError {
        PostgresError(.connection, sqlState: sqlState, message: message)
    }

    static func timedOut(_ message: String) -> PostgresError { PostgresError(.timedOut, message: message) }

    /// One error for the hosts of a list, none of which would have us.
    static func summary(of failures: [PostgresError]) -> PostgresError {
        guard let last = failures.last, failures.count > 1, last.isConnectionLoss, last.code != .closed else {
            return failures.last ?? .connection("no host to connect to")
        }
        return PostgresError(
            failures.allSatisfy { $0.code == .timedOut } ? .timedOut : .connection,
            sqlState: failures.reversed().lazy.compactMap(\.sqlState).first,
            message: failures.map(\.message).joined(separator: "; ")
        )
    }

    static func invalidParameter(_ message: String) -> PostgresError {
        PostgresError(.invalidParameter, message: message)
    }

    static func decoding(column: String, expected: String, found: String) -> PostgresError {
        PostgresError(.decoding, message: "column \(column): expected \(expected), found \(found)")
    }
}

extension PostgresError {
    /// The connection is gone, or in an unknown state and therefore closed; a new one has to be made.
    package var isConnectionLoss: Bool {
        switch self.code {
        case .connection, .timedOut, .closed: true
        case .server, .decoding, .invalidParameter: false
        }
    }

    /// The same call may succeed later, on this connection or a new one: serialization failure and deadlock, a lock not
    /// had, a server starting, stopping or out of resources, a network fault. Not a wrong password or a missing database.
    package var isRetryable: Bool {
        guard let sqlState else { return self.isConnectionLoss }
        return switch sqlState {
        case "40001", "40P01", "55P03", "57P01", "57P02", "57P03": true
        default: sqlState.hasPrefix("53") || sqlState.hasPrefix("08")
        }
    }

    /// The server takes no writes: a standby, or a primary demoted while its sockets stayed open. Reconnect, then find out.
    /// Met on the way in, it is libpq that says so, of what `target_session_attrs` asks for.
    package var isReadOnly: Bool {
        self.sqlState == "25006" || (self.code == .connection && self.message.contains("session is read-only"))
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        let state = self.sqlState.map { " (SQLSTATE \($0))" } ?? ""
        return switch self.code {
        case .connection: "PostgreSQL connection: \(self.message)\(state)"
        case .server: "PostgreSQL: \(self.message)\(state)"
        case .timedOut: "PostgreSQL did not answer in time: \(self.message)"
        case .decoding: "PostgreSQL answered unexpectedly: \(self.message)"
        case .invalidParameter: "cannot be sent to PostgreSQL: \(self.message)"
        case .closed: "PostgreSQL connection is closed: \(self.message)"
        }
    }

    package var debugDescription: String {
        guard let details else { return self.description }
        return "\(self.description)\n\(details)"
    }
}
