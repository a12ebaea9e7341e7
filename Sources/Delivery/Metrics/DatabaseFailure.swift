import Postgres

/// What kind of trouble a failed statement speaks of.
package enum DatabaseFailure: String, CaseIterable, Sendable {
    case connection, timeout, lock, data, permission, schema
    case readOnly = "read_only"
    case unexpected

    package init(_ error: any Error) {
        guard let error = error as? PostgresError else {
            self = .unexpected
            return
        }
        // Before the connection's own: a server that goes down names a state too.
        switch error.sqlState {
        case "25006"?: self = .readOnly
        case "57014"?: self = .timeout
        case "40001"?, "40P01"?, "55P03"?: self = .lock
        case "42501"?: self = .permission
        case "3F000"?, "42P01"?, "42703"?, "42883"?: self = .schema
        case let state? where ["21", "22", "23"].contains(state.prefix(2)): self = .data
        default:
            switch error.code {
            case .timedOut: self = .timeout
            case .connection, .closed: self = .connection
            case .server, .decoding, .invalidParameter: self = .unexpected
            }
        }
    }

    /// Whether the database is there and the schema is what is wrong.
    package var isOfSchema: Bool { self == .schema || self == .permission }
}
