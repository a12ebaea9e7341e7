import FoundationEssentials
import Locking
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// All of it, as an operator would have it: a database with the reference schema, the simulator, and workers as
/// processes that run as a role with the worker's rights and no others.
final class Installation: Sendable {
    let database: TestDatabase
    let simulator: PushSimulator
    /// A superuser's connection: the app's side, and the test's eyes.
    let admin: PostgresConnection
    let workerRole: String
    private let directory: String

    /// - Parameter server: a PostgreSQL of the test's own, where it is to be restarted; else the shared one.
    static func make(
        server: PrivatePostgres? = nil, _ configure: (inout SimulatorConfiguration.Options) -> Void = { _ in }
    ) async throws -> Installation {
        let server = if let server { server } else { try await PrivatePostgres.shared() }
        let database = try await server.createDatabase()
        let admin = try await database.connect()
        for file in try FileManager.default.contentsOfDirectory(atPath: Self.referenceSchema.path).sorted()
        where file.hasSuffix(".sql") {
            let sql = try String(contentsOf: Self.referenceSchema.appending(path: file), encoding: .utf8)
            try await admin.run(script: sql)
        }
        let workerRole = try await server.createRole()
        var configuration = SimulatorConfiguration(credentials: try SimulatorCredentials.generate())
        configure(&configuration.options)
        let simulator = try await PushSimulator.start(configuration)
        let directory = FileManager.default.temporaryDirectory.path + "/push-fanout-" + UUID().uuidString
        try simulator.writeDirectory(directory)
        let installation = Installation(database, simulator, admin, workerRole, directory)
        try await ChildProcess.run(
            BuiltProducts.url("push-fanout").path, ["migrate"], environment: ["DATABASE_URL": database.url()])
        try await server.run("grant push_worker to \(identifier: workerRole)")
        return installation
    }

    private init(
        _ database: TestDatabase, _ simulator: PushSimulator, _ admin: PostgresConnection, _ workerRole: String,
        _ directory: String
    ) {
        self.database = database
        self.simulator = simulator
        self.admin = admin
        self.workerRole = workerRole
        self.directory = directory
    }

    /// The same with a new connection of the test's own, after the server was restarted.
    func reconnected() async throws -> Installation {
        await self.admin.close()
        return Installation(
            self.database, self.simulator, try await self.database.connect(), self.workerRole, self.directory)
    }

    /// Ends it all. Workers are the test's to stop.
    func remove() async throws {
        await self.simulator.stop()
        await self.admin.close()
        try await self.database.drop()
        try? FileManager.default.removeItem(atPath: self.directory)
    }

    private static var referenceSchema: URL {
        Fixtures.url("").deletingLastPathComponent().deletingLastPathComponent().appending(path: "deploy/sql/reference")
    }

    // MARK: - Workers

    /// Where the database's server listens, for a proxy or a pooler in front of it.
    func databaseSocket() async throws -> (directory: String, path: String) {
        let row = try self.found(
            try await self.admin.query(
                "select split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port')"
            ).first)
        let directory = try row.text(0)
        return (directory, "\(directory)/.s.PGSQL.\(try row.text(1))")
    }

    /// A proxy in front of the database, and what makes a worker or a command go through it.
    func databaseProxy() async throws -> (proxy: TCPProxy, environment: [String: String]) {
        let proxy = try TCPProxy(to: .socket(path: try await self.databaseSocket().path))
        return (proxy, ["DATABASE_URL": self.databaseURL(port: proxy.port)])
    }

    /// The worker's way to the database through what listens on a port of 127.0.0.1.
    func databaseURL(port: Int) -> String {
        "postgresql://\(self.workerRole)@127.0.0.1:\(port)/\(self.database.name)"
    }

    /// What a worker or a command needs to know.
    func environment(_ others: [String: String] = [:]) -> [String: String] {
        var environment = Dictionary(
            uniqueKeysWithValues: SimulatorDirectory(path: self.directory)
                .environment(credentials: self.simulator.credentials, addresses: self.simulator.addresses)
                .map { ($0.name, $0.value) })
        environment["DATABASE_URL"] = self.database.url(role: self.workerRole)
        environment["PUSH_TEMPLATES"] =
            Fixtures.url("").deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "templates").path
        environment["PATH"] = "/usr/bin:/bin"
        // Many workers run at once here.
        environment["PUSH_LISTEN"] = "127.0.0.1:0"
        return environment.merging(others) { $1 }
    }

    /// Starts a worker and waits until it works.
    func startWorker(_ others: [String: String] = [:]) async throws -> ChildProcess {
        let worker = try ChildProcess(
            BuiltProducts.url("push-fanout").path, arguments: ["run"], environment: self.environment(others))
        try await worker.waitForLine(containing: "worker started", within: .seconds(90))
        return worker
    }

    /// Stops a worker as its service manager would, checks what must always hold, and removes the installation.
    func stop(
        _ worker: ChildProcess, _ expectations: Expectations = Expectations(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        worker.signal(15)
        let exit = try await worker.waitForExit(within: .seconds(90))
        guard exit == .code(0) else { throw NotInTime("the worker ended with \(exit): \(worker.text(.error))") }
        try await self.checkInvariants(expectations, sourceLocation: sourceLocation)
        try await self.remove()
    }

    /// Runs a command to its end.
    func command(
        _ arguments: [String], _ others: [String: String] = [:]
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        let child = try ChildProcess(
            BuiltProducts.url("push-fanout").path, arguments: arguments, environment: self.environment(others))
        let exit = try await child.waitForExit(within: .seconds(60))
        return (exit, child.text(.output), child.text(.error))
    }

    // MARK: - The app's side

    func account(_ switches: [AccountSwitch: Bool] = [:]) async throws -> UUID {
        let row = try await self.admin.query(
            """
            insert into accounts (id, notify_invitations, notify_contact_updates, notify_circle_changes)
            values (gen_random_uuid(), \(switches[.invitations] ?? true), \(switches[.contactUpdates] ?? true),
                \(switches[.circleChanges] ?? false))
            returning id
            """
        ).first
        return try self.found(row).uuid(0)
    }

    /// A phone in the account's table, known to the simulator.
    @discardableResult
    func phone(
        _ platform: Platform, of account: UUID, locale: String = "en", token: String? = nil,
        environment: PushModel.APNSEnvironment = .production, state: SimulatedDevice.State = .active,
        isKnown: Bool = true
    ) async throws -> (id: UUID, token: String) {
        let token = token ?? (platform == .ios ? Self.hexadecimalToken() : "android-" + UUID().uuidString)
        if isKnown {
            self.simulator.register([
                SimulatedDevice(platform: platform == .ios ? .ios : .android, token: token, state: state)
            ])
        }
        let row = try await self.admin.query(
            """
            insert into devices (account_id, platform, push_token, locale, apns_environment)
            values (\(account), \(platform.rawValue), \(token), \(locale), \(environment.rawValue))
            returning id
            """
        ).first
        return (try self.found(row).uuid(0), token)
    }

    /// A row by plain SQL, as any app would write it.
    @discardableResult
    func notify(
        _ account: UUID, kind: String, connection: UUID? = nil, actor: String? = "Anna", pronoun: String? = nil,
        categories: [String]? = nil, title: String? = nil, body: String? = nil
    ) async throws -> UUID {
        let row = try await self.admin.query(
            """
            insert into notifications
                (account_id, kind, connection_id, actor_name, actor_pronoun, categories, title, body)
            values (\(account), \(kind), \(connection as UUID?), \(actor as String?), \(pronoun as String?),
                \(categories as [String]?), \(title as String?), \(body as String?))
            returning id
            """
        ).first
        return try self.found(row).uuid(0)
    }

    private func found(_ row: PostgresRow?) throws -> PostgresRow {
        guard let row else { throw NotInTime("the statement returned no row") }
        return row
    }

    static func hexadecimalToken() -> String {
        (UUID().uuidString + UUID().uuidString).filter { $0 != "-" }.lowercased()
    }

    /// Waits until workers have looked at the pauses so often.
    func waitForHeartbeats(_ count: Int) async throws {
        for _ in 0..<count {
            let before = try await self.admin.query("select max(heartbeat_at)::text from push.workers").first?.text(0)
            try await eventually {
                try await self.admin.query("select max(heartbeat_at)::text from push.workers").first?.text(0) != before
            }
        }
    }

    // MARK: - What the queue says

    /// Waits until the worker has decided about a notification.
    func decision(of notification: UUID, within limit: Duration = .seconds(90)) async throws -> String {
        var decision: String?
        try await eventually(within: limit) {
            decision = try await self.admin.query(
                "select decision from push.fanouts where notification_id = \(notification)"
            ).first?.text(0)
            return decision != nil
        }
        return decision ?? ""
    }

    /// Waits until every delivery of a notification is in a final state; `state reason` of each, sorted.
    func ends(of notification: UUID, count: Int, within limit: Duration = .seconds(90)) async throws -> [String] {
        var states: [String] = []
        try await eventually(within: limit) {
            states = try await self.admin.query(
                """
                select state || coalesce(' ' || reason, '') from push.deliveries where notification_id = \(notification)
                    and state in ('accepted', 'discarded', 'cancelled') order by 1
                """
            ).map { row throws(PostgresError) in try row.text(0) }
            return states.count == count
        }
        return states
    }

    /// A number from a query.
    func number(_ query: PostgresQuery) async throws -> Int {
        try self.found(try await self.admin.query(query).first).int(0)
    }

    /// Nothing waits, runs or is unclaimed.
    func waitUntilDrained(within limit: Duration = .seconds(90)) async throws {
        try await eventually(within: limit) {
            try await self.number(
                """
                select (select count(*) from push.outbox) + (select count(*) from push.batches)
                    + (select count(*) from push.waiting)
                """) == 0
        }
    }
}
