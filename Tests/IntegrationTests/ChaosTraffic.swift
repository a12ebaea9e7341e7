import Delivery
import FoundationEssentials
import Locking
import Postgres
import PushModel
import PushSimulator
import TestSupport

/// The app's side of the chaos: accounts with phones, and rows that keep coming whatever happens to the database.
final class ChaosTraffic: Sendable {
    private let installation: Installation
    private let session: DatabaseSession
    private let seed: UInt64
    private let state = Locked(State())

    private struct State {
        var written = 0
        var deadTokens: Set<String> = []
    }

    /// Rows in one statement, ten times a second.
    private static let rowsAtOnce = 6
    /// Accounts that get rows at a time, and for how many statements, so that nobody's badge grows without end.
    private static let accountsAtOnce = 12
    private static let statementsPerGeneration = 100

    init(_ installation: Installation, _ session: DatabaseSession, seed: UInt64) {
        self.installation = installation
        self.session = session
        self.seed = seed
    }

    var written: Int { self.state.withLock { $0.written } }
    /// Of the phones that are gone; every other must stay as it is.
    var deadTokens: Set<String> { self.state.withLock { $0.deadTokens } }

    /// Writes until the task is cancelled, then what it has begun.
    func run() async throws {
        var random = SeededGenerator(seed: self.seed)
        var accounts: [UUID] = []
        var connections: [UUID] = []
        var count = 0
        while !Task.isCancelled {
            if count % Self.statementsPerGeneration == 0 {
                accounts = try await self.makeAccounts(&random)
                connections = (0..<40).map { _ in Self.id(&random) }
            }
            count += 1
            try await self.write(accounts, connections, &random)
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Tries until the database has it: with ids of our own a second try of what was committed does nothing.
    private func insist(_ query: PostgresQuery) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                _ = try await self.session.query(query)
                return
            } catch {
                guard ContinuousClock.now < end else { throw error }
                // Not cut short by a cancellation: what is begun is written.
                await Task { try? await Task.sleep(for: .milliseconds(100)) }.value
            }
        }
    }

    private func makeAccounts(_ random: inout SeededGenerator) async throws -> [UUID] {
        let accounts = (0..<Self.accountsAtOnce).map { _ in Self.id(&random) }
        var devices: [(id: UUID, account: UUID, platform: String, token: String, environment: String)] = []
        var known: [SimulatedDevice] = []
        for (index, account) in accounts.enumerated() {
            for phone in 0...Int.random(in: 0...2, using: &random) {
                let id = Self.id(&random)
                let isAndroid = (index + phone) % 2 == 1
                // Every account's first phone is well; a few others are gone, and one is listed at the wrong host.
                let isDead = phone > 0 && Int.random(in: 0..<8, using: &random) == 0
                let token = isAndroid ? "android-\(id.text)" : (id.text + Self.id(&random).text).filter { $0 != "-" }
                let environment = index == 3 && phone == 0 && !isAndroid ? "development" : "production"
                devices.append((id, account, isAndroid ? "android" : "ios", token, environment))
                known.append(
                    SimulatedDevice(
                        platform: isAndroid ? .android : .ios, token: token, state: isDead ? .unregistered : .active))
                if isDead { self.state.withLock { _ = $0.deadTokens.insert(token) } }
            }
        }
        self.installation.simulator.register(known)
        try await self.insist(
            "insert into accounts (id) select * from unnest(\(accounts)::uuid[]) on conflict do nothing")
        try await self.insist(
            """
            insert into devices (id, account_id, platform, push_token, locale, apns_environment)
            select id, account_id, platform, token, 'nl', environment
            from unnest(
                \(devices.map(\.id))::uuid[], \(devices.map(\.account))::uuid[], \(devices.map(\.platform))::text[],
                \(devices.map(\.token))::text[], \(devices.map(\.environment))::text[]
            ) as d (id, account_id, platform, token, environment)
            on conflict do nothing
            """)
        return accounts
    }

    private func write(_ accounts: [UUID], _ connections: [UUID], _ random: inout SeededGenerator) async throws {
        let ids = (0..<Self.rowsAtOnce).map { _ in Self.id(&random) }
        let kinds = ids.map { _ in
            [
                "invitation_received", "invitation_received", "invitation_accepted", "contact_updated",
                "contact_updated", "contact_updated", "system", "circle_changed",
            ].randomElement(using: &random) ?? "system"
        }
        let to = ids.map { _ in accounts.randomElement(using: &random) ?? UUID() }
        let about = ids.map { _ in connections.randomElement(using: &random) ?? UUID() }
        try await self.insist(
            """
            insert into notifications (id, account_id, kind, connection_id, actor_name, categories, title)
            select id, account_id, kind, case when kind <> 'system' then connection_id end, 'Anna', '{phone}', 'Hello'
            from unnest(\(ids)::uuid[], \(to)::uuid[], \(kinds)::text[], \(about)::uuid[])
                as n (id, account_id, kind, connection_id)
            on conflict do nothing
            """)
        self.state.withLock { $0.written += ids.count }
    }

    private static func id(_ random: inout SeededGenerator) -> UUID {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        func part(_ from: Int, _ count: Int) -> Substring { text.dropFirst(from).prefix(count) }
        return UUID(uuidString: "\(part(0, 8))-\(part(8, 4))-\(part(12, 4))-\(part(16, 4))-\(part(20, 12))") ?? UUID()
    }
}
