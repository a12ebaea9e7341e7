import Cryptography
import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// The commands as an operator types them.
@Suite(.serialized) struct CommandTests {
    @Test func `check is content with an installation that works`() async throws {
        let installation = try await Installation.make()
        let result = try await installation.command(["check"])
        #expect(result.exit == .code(0))
        #expect(!result.output.contains("failed"))
        for subject in ["settings", "templates", "database", "schema", "tables", "trigger", "listen", "apns", "fcm"] {
            #expect(result.output.contains("ok       \(subject) "), "\(subject): \(result.output)")
        }
        // Each finding is one line, and nothing was delivered.
        #expect(installation.simulator.received().allSatisfy { $0.status != 200 })
        try await installation.remove()
    }

    @Test(arguments: [
        (
            ["DATABASE_URL": "postgresql:///nowhere?host=/tmp/no-such-directory&user=nobody"], "failed   database",
            "check DATABASE_URL"
        ),
        (["APNS_KEY_ID": "short"], "failed   apns key", "APNS_KEY_ID"),
        (["APNS_TEAM_ID": "lowercase1"], "failed   apns key", "APNS_TEAM_ID"),
        (["APNS_KEY_FILE": "/nowhere/key.p8"], "failed   apns key", "APNS_KEY"),
        (["APNS_TEAM_ID": "WRONGTEAM1"], "failed   apns", "InvalidProviderToken"),
        (["APNS_TOPIC": "com.example.other"], "failed   apns", "TopicDisallowed"),
        (["PUSH_TEMPLATES": "/nowhere"], "failed   templates", "PUSH_TEMPLATES"),
        (["APNS_URL": "https://127.0.0.1:9"], "failed   apns", "connect_failed"),
        (["FCM_URL": "ftp://example.com"], "failed   fcm key", "FCM_URL must be an https address"),
        (["GOOGLE_APPLICATION_CREDENTIALS": "/nowhere.json"], "failed   fcm key", "cannot be read"),
        (["PUSH_SOURCE_SCHEMA": "elsewhere"], "failed   tables", "PUSH_SOURCE_SCHEMA"),
        (["PUSH_LIFETIME": "soon"], "failed   settings", "PUSH_LIFETIME"),
    ])
    func `check names what is wrong in one line with what to do`(
        change: [String: String], line: String, fix: String
    ) async throws {
        let installation = try await Installation.make()
        let result = try await installation.command(["check"], change)
        #expect(result.exit == .code(1))
        let found = result.output.split(separator: "\n").contains { $0.hasPrefix(line) && $0.contains(fix) }
        #expect(found, "\(result.output)")
        try await installation.remove()
    }

    @Test(arguments: [
        ("drop trigger push_enqueue on notifications", "failed   trigger", "run push-fanout migrate"),
        ("alter table notifications disable trigger push_enqueue", "failed   trigger", "enable trigger push_enqueue"),
        ("drop schema push cascade", "failed   schema", "run push-fanout migrate"),
        (
            "drop policy servers on devices; drop policy push_worker_reads on devices; drop policy push_worker_marks on devices",
            "failed   tables", "run push-fanout migrate"
        ),
        ("revoke select on accounts from push_worker", "failed   tables", "run push-fanout migrate"),
    ])
    func `check finds what was done to the database`(sql: String, line: String, fix: String) async throws {
        let installation = try await Installation.make()
        try await installation.admin.run(script: sql)
        let result = try await installation.command(["check"])
        #expect(result.exit == .code(1))
        let found = result.output.split(separator: "\n").contains { $0.hasPrefix(line) && $0.contains(fix) }
        #expect(found, "\(result.output)")
        try await installation.remove()
    }

    enum WrongKey: String, CaseIterable {
        case p384 = "P-384"
        case rsa = "RSA"
        case nonsense = "APNS_KEY"

        var pem: String {
            get throws {
                switch self {
                case .p384: try PrivateKey.generateP384().pem
                case .rsa: try PrivateKey.generateRSA(bits: 2048).pem
                case .nonsense: "-----BEGIN PRIVATE KEY-----\nbm9uc2Vuc2U=\n-----END PRIVATE KEY-----"
                }
            }
        }
    }

    @Test(arguments: WrongKey.allCases)
    func `run refuses a key that APNs would refuse, with the reason, before anything is sent`(
        wrong: WrongKey
    ) async throws {
        let installation = try await Installation.make()
        let key = try wrong.pem
        let result = try await installation.command(["run"], ["APNS_KEY": key, "APNS_KEY_FILE": ""])
        #expect(result.exit == .code(3))
        #expect(result.error.contains(wrong.rawValue) && result.error.contains("APNS_KEY"), "\(result.error)")
        #expect(result.error.split(separator: "\n").count == 1)
        #expect(!result.error.contains(key.split(separator: "\n")[1]))
        try await installation.remove()
    }

    @Test func `a clock that differs from the provider's is named`() async throws {
        let installation = try await Installation.make()
        installation.simulator.setFaults(FaultPlan([FaultRule(.apns, dateOffsetSeconds: -600)]))
        let result = try await installation.command(["check"])
        #expect(result.exit == .code(1))
        #expect(result.output.contains("failed   clock"), "\(result.output)")
        #expect(result.output.contains("ahead of"))
        try await installation.remove()
    }

    @Test func `notify tells one account, in its languages, and all when asked`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let accounts = try await (0..<3).asyncMap { _ in try await installation.account() }
        for account in accounts { try await installation.phone(.ios, of: account, locale: "nl") }
        try await installation.database.server.run(
            "grant push_operator to \(identifier: installation.workerRole)")

        let words = [
            "--title", "Maintenance", "--body", "Tonight at ten", "--title-nl", "Onderhoud", "--body-nl", "Vanavond",
        ]
        let one = try await installation.command(["notify", "--account", accounts[0].text] + words)
        #expect(one.exit == .code(0))
        #expect(one.output == "queued for 1 account\n")
        try await installation.simulator.waitForReceived(count: 1, within: .seconds(90))
        let shown = try #require(installation.simulator.received().first)
        #expect(shown.body.contains(#""alert":{"body":"Vanavond","title":"Onderhoud"}"#))

        let unasked = try await installation.command(["notify", "--all"] + words)
        #expect(unasked.exit == .code(1))
        let all = try await installation.command(["notify", "--all", "--yes"] + words)
        #expect(all.output == "queued for 3 accounts\n")
        try await installation.simulator.waitForReceived(count: 4, within: .seconds(90))

        let missing = try await installation.command(["notify", "--account", UUID().text] + words)
        #expect(missing.exit == .code(1))
        #expect(missing.error.contains("no such account"))
        #expect(try await installation.command(["notify", "--all"]).exit == .code(2))
        try await installation.stop(worker)
    }

    @Test(
        arguments: [
            ([], 2), (["nonsense"], 2), (["run", "--nonsense"], 2), (["preview"], 2),
            (["preview", "--kind", "contact_removed"], 2),
            (["--help"], 0), (["run", "--help"], 0), (["version"], 0),
            (["notify", "--account", "x", "--title", "T"], 2),
            (["migrate", "--database-url", "nonsense=1"], 3),
        ] as [([String], Int32)])
    func `the exit status says what went wrong`(arguments: [String], status: Int32) async throws {
        let child = try ChildProcess(
            BuiltProducts.url("push-fanout").path, arguments: arguments, environment: ["PATH": "/usr/bin:/bin"])
        #expect(try await child.waitForExit(within: .seconds(90)) == .code(status), "\(child.text(.error))")
    }

    @Test func `an operator pauses a provider, the other goes on, and a resume sends what waited`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        try await installation.phone(.android, of: account)
        let pause = try await installation.command(["queue", "pause", "apns", "--reason", "certificates"])
        #expect(pause.output == "paused apns:production, apns:development\n")
        try await installation.waitForHeartbeats(2)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        #expect(installation.simulator.received().map(\.provider) == [.fcm])
        let stats = try await installation.command(["queue", "stats"])
        #expect(stats.output.contains("paused: apns:production until resumed: certificates."), "\(stats.output)")
        #expect(stats.output.contains("deliveries that wait     1\n"))
        #expect(try await installation.command(["queue", "resume", "apns"]).exit == .code(0))
        #expect(try await installation.ends(of: id, count: 2, within: .seconds(90)) == ["accepted", "accepted"])
        #expect(try await installation.command(["queue", "resume", "nobody"]).exit == .code(2))
        try await installation.stop(worker)
    }

    @Test func `preview shows the exact request and needs no credentials`() async throws {
        let templates = Fixtures.url("").deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "templates")
        let output = try await ChildProcess.run(
            BuiltProducts.url("push-fanout").path,
            ["preview", "--kind", "contact_updated", "--locale", "nl", "--pronoun", "she", "--json"],
            environment: ["PUSH_TEMPLATES": templates.path])
        struct Shown: Decodable {
            var method: String
            var path: String
            var headers: [String: String]
            var body: String
            var bytes: Int
        }
        let shown = try JSONDecoder().decode(Shown.self, from: Data(output.utf8))
        #expect(shown.method == "POST")
        #expect(shown.path == "/3/device/" + String(repeating: "0", count: 64))
        #expect(shown.headers["apns-push-type"] == "alert")
        #expect(shown.body.contains("Anna heeft haar gegevens bijgewerkt"))
        #expect(shown.bytes == shown.body.utf8.count)
    }
}
