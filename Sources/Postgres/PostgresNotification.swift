/// A NOTIFY that arrived. Not to be mistaken for a row of `notifications`.
package struct PostgresNotification: Hashable, Sendable {
    package let channel: String
    package let payload: String
    /// The process id of the session that sent it.
    package let senderPID: Int
}

/// A NOTICE or WARNING of the server. Its text may quote values.
package struct PostgresNotice: Hashable, Sendable {
    package let severity: String
    package let sqlState: String
    package let message: String
}
