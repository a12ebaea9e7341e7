import FoundationEssentials
import Postgres

/// Drives a running worker through its database, with the reference schema: rows in, attempts out.
struct WorkerBenchmark {
    let connection: PostgresConnection
    /// Whose memory and CPU time are read.
    let workerPID: Int?

    /// Accounts with one iPhone each, whose tokens the simulator must take (`--any-token` or `--accept-all`).
    func prepare(accounts: Int) async throws {
        _ = try await self.connection.query(
            """
            with made as (
                insert into accounts (id) select gen_random_uuid() from generate_series(1, \(accounts)::integer)
                returning id
            )
            insert into devices (account_id, platform, push_token, locale)
            select id, 'ios', md5(id::text) || md5(id::text || 'b'), 'nl' from made
            """, deadline: .seconds(120))
        _ = try await self.connection.query("analyze accounts", deadline: .seconds(120))
        _ = try await self.connection.query("analyze devices", deadline: .seconds(120))
    }

    /// Inserts `count` notifications in one statement and waits until the last is accepted.
    func backlog(count: Int, limit: Duration) async throws {
        let before = WorkerProcess.read(self.workerPID)
        let acceptedBefore = try await self.accepted()
        let start = ContinuousClock.now
        _ = try await self.connection.query(
            """
            insert into notifications (account_id, kind, connection_id, actor_name)
            select a.id, 'invitation_received', gen_random_uuid(), 'Anna'
            from generate_series(1, \(count)::integer) g
            join (select id, row_number() over () as number from accounts) a
                on a.number = g % (select count(*) from accounts) + 1
            """, deadline: limit)
        let inserted = ContinuousClock.now
        try await self.waitForAccepted(acceptedBefore + count, limit: limit)
        let end = ContinuousClock.now
        let after = WorkerProcess.read(self.workerPID)
        let seconds = start.duration(to: end) / .seconds(1)
        print(
            "backlog of \(count): inserted in \(Self.tenths(start.duration(to: inserted) / .seconds(1))) s,",
            "all accepted after \(Self.tenths(seconds)) s: \(Int(Double(count) / seconds)) deliveries/s")
        if let before, let after {
            let cpu = (after.cpuSeconds - before.cpuSeconds) / Double(count) * 1_000_000
            print(
                "worker: \(before.residentMiB) MiB before, \(after.residentMiB) MiB after;",
                "\(Int(cpu)) µs CPU per delivery")
        }
    }

    /// Inserts `rate` notifications a second, each in a transaction of its own, and prints how long they took from
    /// creation to acceptance, both on the database's clock.
    func steady(rate: Int, seconds: Int, limit: Duration) async throws {
        let acceptedBefore = try await self.accepted()
        let from = try await self.connection.query("select now()::text").first?.text(0) ?? ""
        let accounts = try await self.connection.query("select id from accounts limit 1000").map {
            row throws(PostgresError) in try row.uuid(0)
        }
        let total = rate * seconds
        let start = ContinuousClock.now
        for number in 0..<total {
            try await ContinuousClock().sleep(
                until: start + .seconds(1) * number / rate, tolerance: .zero)
            _ = try await self.connection.query(
                """
                insert into notifications (account_id, kind, connection_id, actor_name)
                values (\(accounts[number % accounts.count])::uuid, 'invitation_received', gen_random_uuid(), 'Anna')
                """)
        }
        try await self.waitForAccepted(acceptedBefore + total, limit: limit)
        let row = try await self.connection.query(
            """
            select percentile_disc(0.5) within group (order by took), percentile_disc(0.99) within group (order by took),
                max(took), count(*)
            from (
                select (extract(epoch from a.finished_at - n.created_at) * 1000)::double precision as took
                from push.attempts a join notifications n on n.id = a.notification_id
                where a.state = 'accepted' and n.created_at >= \(from)::timestamptz
            ) t
            """, deadline: .seconds(60)
        ).first
        guard let row else { return }
        print(
            "\(rate)/s for \(seconds) s: \(try row.int(3)) accepted; commit to accepted (ms)",
            "p50 \(try row.text(0)), p99 \(try row.text(1)), max \(try row.text(2))")
    }

    private func accepted() async throws -> Int {
        try await self.connection.query(
            "select count(*) from push.attempts where state = 'accepted'", deadline: .seconds(60)
        )
        .first?.int(0) ?? 0
    }

    private func waitForAccepted(_ wanted: Int, limit: Duration) async throws {
        let end = ContinuousClock.now + limit
        while try await self.accepted() < wanted {
            guard ContinuousClock.now < end else {
                throw BenchmarkError(description: "not all accepted within \(limit)")
            }
            try await Task.sleep(for: .milliseconds(250))
        }
    }

    private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
}

/// What the kernel says of a process.
struct WorkerProcess {
    var residentMiB: Int
    var cpuSeconds: Double

    static func read(_ pid: Int?) -> WorkerProcess? {
        guard let pid, let status = Self.text("/proc/\(pid)/statm"), let stat = Self.text("/proc/\(pid)/stat") else {
            return nil
        }
        let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        // The name, in brackets, may hold spaces; utime and stime are the 12th and 13th fields behind it.
        let fields = stat.drop { $0 != ")" }.split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return nil }
        return WorkerProcess(residentMiB: pages * 4096 / 1_048_576, cpuSeconds: (user + system) / 100)
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
