import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// People of the reference schema: whoever is signed in does what the app would have done, as the role that the app has
/// on Supabase.
struct People {
    private let server: PrivatePostgres
    let installation: Installation
    /// A session of its own, which takes the role for each act.
    private let session: PostgresConnection

    struct Person: Sendable {
        var account: UUID
        var profile: UUID
    }

    static func make() async throws -> People {
        // A server of its own: a role is of the whole server, and others make this one too.
        let server = try await PrivatePostgres.start()
        try await server.run("create role authenticated nologin")
        let installation = try await Installation.make(server: server)
        return People(server: server, installation: installation, session: try await installation.database.connect())
    }

    /// Stops the worker, checks what must always hold, and takes everything away.
    func stop(
        _ worker: ChildProcess, _ expectations: Expectations = Expectations()
    ) async throws {
        await self.session.close()
        try await self.installation.stop(worker, expectations)
        try await self.server.stop()
    }

    /// Runs a statement as somebody; its rows.
    @discardableResult
    func act(_ account: UUID, _ statement: PostgresQuery) async throws -> PostgresRows {
        let claims = "{\"sub\": \"\(account.text)\"}"
        try await self.session.query("select set_config('request.jwt.claims', \(claims), false)")
        try await self.session.query("set role authenticated")
        let rows: PostgresRows
        do {
            rows = try await self.session.query(statement)
        } catch {
            try await self.session.query("reset role")
            throw error
        }
        try await self.session.query("reset role")
        return rows
    }

    /// The one id that a statement answers.
    func id(_ account: UUID, _ statement: PostgresQuery) async throws -> UUID {
        try await self.act(account, statement).single().uuid(0)
    }

    func signUp(_ name: String, _ pronoun: String? = nil) async throws -> Person {
        let account = UUID()
        let profile = try await self.id(account, "select ensure_account(\(name), \(pronoun as String?), 'en')")
        return Person(account: account, profile: profile)
    }

    func circle(_ seed: String, of person: Person) async throws -> UUID {
        try await self.id(person.account, "select id from circles where seed = \(seed)")
    }

    /// A phone that the person permits notifications on; its token.
    func phone(_ platform: Platform, of person: Person, locale: String = "en") async throws -> String {
        let token = platform == .ios ? Installation.hexadecimalToken() : "android-" + UUID().uuidString
        self.installation.simulator.register([
            SimulatedDevice(platform: platform == .ios ? .ios : .android, token: token)
        ])
        try await self.act(person.account, "select register_phone(\(platform.rawValue), \(token), \(locale))")
        return token
    }

    /// The newest notification of a kind that somebody has; nil when there is none.
    func newest(_ kind: String, of person: Person) async throws -> UUID? {
        try await self.act(
            person.account,
            "select id from notifications where kind = \(kind) order by created_at desc, id desc limit 1"
        ).first?.uuid(0)
    }

    /// What a phone showed last: title and body.
    func shown(on token: String) -> [String] {
        let push = self.installation.simulator.received().last { $0.deviceToken == token && $0.status == 200 }
        let alert = push.flatMap { OrderedJSON(Array($0.body.utf8)) }?["aps"]?["alert"]
        return [alert?["title"]?.string, alert?["body"]?.string].compactMap(\.self)
    }
}
