import FoundationEssentials
import Postgres
import PushModel
import TestSupport
import Testing

/// What operators see while the database is there and does not do what is asked.
@Suite(.serialized) struct OperatorPagesTests {
    private static let id = "00000000-0000-4000-8000-000000000001"

    private static func cancel(_ worker: ServedWorker) async throws -> Answer {
        try await worker.ask(
            "POST /api/v1/deliveries/\(Self.id)/cancel HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
                + "\(ServedWorker.token)\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func `a lock and a database that takes no writes are told apart, and last no longer than they do`()
        async throws
    {
        let installation = try await Installation.make()
        let worker = try await ServedWorker.start(installation)
        #expect(try await worker.get("/api/v1/deliveries").status == 200)

        let holder = try await installation.database.connect()
        try await holder.query("begin")
        try await holder.query("lock table push.attempts in access exclusive mode")
        for answer in [try await worker.get("/api/v1/deliveries"), try await Self.cancel(worker)] {
            #expect(answer.status == 503)
            #expect(answer.body.contains("Somebody holds a lock"), "\(answer.body)")
        }
        #expect(try await worker.get("/healthz").status == 200)
        try await holder.query("rollback")
        #expect(try await worker.get("/api/v1/deliveries").status == 200)

        let name = installation.database.name
        try await installation.admin.query("alter database \(identifier: name) set default_transaction_read_only = on")
        try await installation.admin.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = \(installation.workerRole)")
        try await eventually {
            let answers = [try await worker.get("/api/v1/deliveries"), try await Self.cancel(worker)]
            return answers.allSatisfy { $0.status == 503 && $0.body.contains("takes no writes") }
        }
        let command = try await installation.command(["queue", "resume", "fcm"])
        #expect(command.exit == .code(1))
        #expect(command.error.contains("takes no writes: DATABASE_URL must lead to the primary"), "\(command.error)")
        let looking = installation.database.url(
            role: installation.workerRole, parameters: ["target_session_attrs": "any"])
        #expect(try await installation.command(["queue", "list"], ["DATABASE_URL": looking]).exit == .code(0))
        try await holder.query("set default_transaction_read_only = off")
        try await holder.query("alter database \(identifier: name) reset default_transaction_read_only")
        try await eventually { try await worker.get("/readyz").status == 200 }
        try await eventually { try await worker.get("/api/v1/deliveries").status == 200 }
        await holder.close()
        try await installation.stop(worker.process)
    }
}
