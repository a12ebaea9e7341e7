import Observability
package import Postgres

import struct FoundationEssentials.UUID

/// Listens for new rows in the outbox and wakes the claim loop. Every signal is a hint: a lost one costs the time to
/// the next look, never a row.
package struct OutboxListener: Sendable {
    let configuration: PostgresConfiguration
    let wake: WakeSignal
    let log: Log
    let repeats: LogLimiter
    /// Called with what became of LISTEN: true while it works.
    let report: @Sendable (Bool) -> Void

    /// How often a silent connection must prove that it lives, and how long it may take.
    private static let proofInterval = Duration.seconds(10)
    private static let proofLimit = Duration.seconds(5)
    private static let selfTestLimit = Duration.seconds(2)

    /// Listens until the task is cancelled, reconnecting with back-off.
    func run() async {
        var backOff = BackOff()
        while !Task.isCancelled {
            do {
                let connection = try await PostgresConnection.connect(self.configuration)
                defer { self.report(false) }
                try await self.listen(on: connection) {
                    backOff.reset()
                    self.repeats.over("listener")
                }
                await connection.close()
            } catch {
                if let more = self.repeats.mayWrite("listener") {
                    self.log.warning("not listening, trying again", ["error": "\(error)", "repeated": more])
                }
            }
            guard !Task.isCancelled else { return }
            try? await Task.sleep(for: backOff.next())
        }
    }

    /// Returns when the task is cancelled; throws when the connection has not proved alive.
    private func listen(on connection: PostgresConnection, established: () -> Void) async throws {
        try await withTaskCancellationHandler {
            try await connection.listen(to: "push_outbox")
            established()
            self.report(true)
            // What was committed before LISTEN took hold has notified nobody.
            self.wake.wake()
            while !Task.isCancelled {
                if try await connection.nextNotification(within: Self.proofInterval) != nil {
                    self.wake.wake()
                } else if !Task.isCancelled {
                    try await Self.prove(connection)
                }
            }
        } onCancel: {
            connection.interrupt()
        }
    }

    /// Fails when the connection is dead, or leads to a server that takes no writes any more: after a failover the old
    /// primary keeps its sockets open, and nobody notifies there.
    private static func prove(_ connection: PostgresConnection) async throws {
        let row = try await connection.query(
            "select current_setting('transaction_read_only') = 'on'", deadline: Self.proofLimit
        ).first
        if try row?.bool(0) ?? true { throw StaleServer() }
    }

    private struct StaleServer: Error, CustomStringConvertible {
        let description = "the server takes no writes any more"
    }

    /// Whether a NOTIFY sent on one connection reaches another: false behind a transaction pooler. Sent on the listening
    /// connection itself, a pooler would hand it straight back, and the test would prove nothing.
    package static func notificationsArrive(on connection: PostgresConnection, prober: DatabaseSession) async throws
        -> Bool
    {
        let channel = "push_probe_" + UUID().uuidString.filter { $0 != "-" }.lowercased()
        try await connection.listen(to: channel)
        _ = try await prober.query("select pg_notify(\(channel), '')")
        let limit = ContinuousClock.now + Self.selfTestLimit
        while true {
            let remaining = ContinuousClock.now.duration(to: limit)
            guard remaining > .zero, !Task.isCancelled else { return false }
            if try await connection.nextNotification(within: remaining)?.channel == channel { return true }
        }
    }
}
