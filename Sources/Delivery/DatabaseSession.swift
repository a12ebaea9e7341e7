package import Postgres

/// One connection that is made when it is needed and made anew when it was lost. Callers see the error and try again at
/// their own pace; the session only never hands out a dead connection.
package actor DatabaseSession {
    private let configuration: PostgresConfiguration
    private let prepare: @Sendable (PostgresConnection) async throws -> Void
    private let watch: Watch
    private var connection: PostgresConnection?
    /// Counts the calls of ``close()``: a connection that was begun before one is not kept.
    private var closings = 0
    /// The connection being made. Kept as a task, so that callers that come meanwhile wait for the same one.
    private var connecting: Task<PostgresConnection, any Error>?

    /// Told of each statement that has a name: how long it took, and its error.
    package typealias Watch = @Sendable (DatabaseOperation, Duration, (any Error)?) -> Void

    /// - Parameters:
    ///   - prepare: run on each new connection before it is used; if it throws, the connection is closed.
    ///   - watch: told of each statement with an operation; called on the session's own turn, so it must be quick.
    package init(
        _ configuration: PostgresConfiguration,
        prepare: @escaping @Sendable (PostgresConnection) async throws -> Void = { _ in },
        watch: @escaping Watch = { _, _, _ in }
    ) {
        self.configuration = configuration
        self.watch = watch
        self.prepare = prepare
    }

    package func query(_ query: PostgresQuery, for operation: DatabaseOperation) async throws -> PostgresRows {
        let start = ContinuousClock.now
        do {
            let rows = try await self.query(query)
            self.watch(operation, start.duration(to: .now), nil)
            return rows
        } catch {
            self.watch(operation, start.duration(to: .now), error)
            throw error
        }
    }

    package func query(_ query: PostgresQuery) async throws -> PostgresRows {
        let connection = try await self.connected()
        do {
            return try await connection.query(query)
        } catch {
            // A server that takes no writes any more is as good as gone: find the one that does.
            if error.isConnectionLoss || error.isReadOnly { await self.drop(connection) }
            throw error
        }
    }

    /// Runs one statement in a transaction of its own.
    ///
    /// - Parameter beginning: SQL that begins it and makes its settings, with `set local`: they hold for this statement
    ///   alone, also behind a transaction pooler, where a session's settings are left to whoever gets its connection next.
    package func query(_ query: PostgresQuery, inTransaction beginning: String) async throws -> PostgresRows {
        let connection = try await self.connected()
        do {
            return try await connection.query(query, inTransaction: beginning)
        } catch {
            if error.isConnectionLoss || error.isReadOnly { await self.drop(connection) }
            throw error
        }
    }

    /// Closes the connection, if there is one; the next query makes a new one.
    package func close() async {
        self.closings += 1
        self.connecting?.cancel()
        if let connection { await self.drop(connection) }
    }

    private func connected() async throws -> PostgresConnection {
        if let connection { return connection }
        if let connecting { return try await connecting.value }
        // A task of its own: the connection is for all who wait for it, and is made when the first of them is cancelled, too.
        let task = Task { [configuration, prepare] in
            let connection = try await PostgresConnection.connect(configuration)
            do {
                try await prepare(connection)
            } catch {
                await connection.close()
                throw error
            }
            return connection
        }
        self.connecting = task
        let closings = self.closings
        defer { self.connecting = nil }
        let connection = try await task.value
        guard closings == self.closings else {
            await connection.close()
            throw CancellationError()
        }
        self.connection = connection
        return connection
    }

    private func drop(_ lost: PostgresConnection) async {
        if self.connection === lost { self.connection = nil }
        await lost.close()
    }
}
