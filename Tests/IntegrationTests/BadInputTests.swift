import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// Rows as nobody should write them: each gets a decision and a reason, and holds up no other.
@Suite(.serialized) struct BadInputTests {
    @Test func `rows of every odd kind end with a reason and hold up no others`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let phone = try await installation.phone(.ios, of: account, locale: "")
        let nobody = try await installation.account()
        let tokenless = try await installation.account()
        try await installation.admin.run(
            script:
                "insert into devices (account_id, platform, locale) values ('\(tokenless.text)', 'ios', 'xx-nonsense!')"
        )

        let nameless = try await installation.notify(account, kind: "invitation_received", actor: nil)
        let unknownCategory = try await installation.notify(
            account, kind: "contact_updated", connection: UUID(), categories: ["blood_type"])
        let long = try await installation.notify(
            account, kind: "system", title: String(repeating: "long ", count: 2000),
            body: String(repeating: "👩‍👩‍👧‍👦", count: 1000))
        let wordless = try await installation.notify(account, kind: "system")
        let unknownKind = try await installation.notify(account, kind: "contact_forgotten", connection: UUID())
        let deviceless = try await installation.notify(nobody, kind: "invitation_received")
        let without = try await installation.notify(tokenless, kind: "invitation_received")

        #expect(try await installation.decision(of: unknownKind) == "unknown_kind")
        #expect(try await installation.decision(of: deviceless) == "no_devices")
        #expect(try await installation.decision(of: without) == "no_devices")
        for id in [nameless, unknownCategory, long, wordless] {
            #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        }
        let bodies = installation.simulator.received().map(\.body)
        #expect(bodies.count == 4)
        #expect(bodies.contains { $0.contains("Someone wants to connect with you") })
        #expect(bodies.contains { $0.contains("\"body\":\"Details\"") })
        #expect(bodies.allSatisfy { $0.utf8.count <= 4096 })
        #expect(!bodies.contains { $0.contains("blood") })
        #expect(installation.simulator.received().allSatisfy { $0.deviceToken == phone.token })
        try await installation.stop(worker)
    }

    @Test(arguments: [
        ("abc", "token_odd_length"), ("not-hexadecimal-at-all", "token_not_hexadecimal"), ("abcd", "token_bad_length"),
        ("   ", "token_empty"),
    ])
    func `a token that cannot be one is refused with a reason`(token: String, reason: String) async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account, token: token, isKnown: false)
        let good = try await installation.phone(.ios, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 2) == ["accepted", "discarded \(reason)"])
        #expect(installation.simulator.received().map(\.deviceToken) == [good.token])
        try await installation.stop(worker)
    }

    @Test func `a token in upper case with spaces and brackets is sent in its normal form, once`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let token = Installation.hexadecimalToken()
        let printed = "<" + token.uppercased().prefix(32) + " " + token.uppercased().dropFirst(32) + ">"
        installation.simulator.register([SimulatedDevice(platform: .ios, token: token)])
        try await installation.phone(.ios, of: account, token: printed, isKnown: false)
        try await installation.phone(.ios, of: account, token: token, isKnown: false)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 2) == ["accepted", "discarded duplicate_token"])
        #expect(installation.simulator.received().map(\.deviceToken) == [token])
        try await installation.stop(worker)
    }
}
