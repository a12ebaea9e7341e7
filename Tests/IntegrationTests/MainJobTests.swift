import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// A row by plain SQL reaches every phone of the account, and the outcome stands in the queue.
@Suite(.serialized) struct MainJobTests {
    @Test func `a contact update reaches two iPhones in their languages and an Android phone`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let dutch = try await installation.phone(.ios, of: account, locale: "nl-NL")
        let english = try await installation.phone(.ios, of: account, locale: "en_US")
        let android = try await installation.phone(.android, of: account, locale: "nl")
        let stranger = try await installation.account()
        try await installation.phone(.ios, of: stranger)

        let connection = UUID()
        let id = try await installation.notify(
            account, kind: "contact_updated", connection: connection, actor: "Anna", pronoun: "she",
            categories: ["phone", "address"])

        #expect(try await installation.ends(of: id, count: 3) == ["accepted", "accepted", "accepted"])
        #expect(try await installation.decision(of: id) == "fanned_out")
        let received = installation.simulator.received()
        #expect(received.count == 3)
        let byToken = Dictionary(uniqueKeysWithValues: received.map { ($0.deviceToken ?? "", $0) })
        let iPhone = """
            {"aps":{"alert":{"body":"%b","title":"%t"},"badge":1,"content-available":1,"sound":"default",\
            "thread-id":"contact_updated"},"id":"\(id.text)","kind":"contact_updated"}
            """
        func filled(_ title: String, _ body: String) -> String {
            iPhone.replacing("%t", with: title).replacing("%b", with: body)
        }
        #expect(
            byToken[dutch.token]?.body == filled("Anna heeft haar gegevens bijgewerkt", "Telefoonnummer en adres"))
        #expect(byToken[english.token]?.body == filled("Anna updated her details", "Phone number and address"))
        #expect(
            byToken[android.token]?.body == """
                {"message":{"android":{"priority":"HIGH","ttl":"2419200s"},"data":{"id":"\(id.text)",\
                "kind":"contact_updated"},"token":"\(android.token)"}}
                """)
        let headers = byToken[dutch.token]?.headers ?? [:]
        #expect(headers["apns-collapse-id"] == "contact_updated:\(connection.text)")
        #expect(headers["apns-topic"] == SimulatorCredentials.defaultTopic)

        let deliveryIDs = try await installation.admin.query(
            "select delivery_id from push.attempts where platform = 'ios' order by 1"
        ).map { row in try row.uuid(0).text }
        #expect(received.filter { $0.provider == .apns }.compactMap { $0.headers["apns-id"] }.sorted() == deliveryIDs)
        let providerIDs = try await installation.number(
            "select count(*) from push.attempts where provider_id is not null and status = 200")
        #expect(providerIDs == 3)

        worker.signal(15)
        #expect(try await worker.waitForExit() == .code(0))
        try await installation.remove()
    }

    @Test func `the badge counts what is unread, without what is ignored`() async throws {
        let installation = try await Installation.make()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let read = try await installation.notify(account, kind: "invitation_accepted")
        let ignored = try await installation.notify(account, kind: "invitation_received")
        try await installation.notify(account, kind: "invitation_received", actor: "Bram")
        _ = try await installation.admin.query("update notifications set read_at = now() where id = \(read)")
        _ = try await installation.admin.query("update notifications set ignored_at = now() where id = \(ignored)")
        let worker = try await installation.startWorker()
        let last = try await installation.notify(account, kind: "invitation_accepted")
        #expect(try await installation.ends(of: last, count: 1) == ["accepted"])
        #expect(try await installation.decision(of: read) == "already_read")
        #expect(try await installation.decision(of: ignored) == "ignored")
        let shown = installation.simulator.received().first { $0.body.contains(last.text) }
        #expect(shown?.body.contains("\"badge\":2") == true)
        try await installation.stop(worker)
    }

    @Test(arguments: [
        ("invitation_received", AccountSwitch.invitations), ("invitation_accepted", .invitations),
        ("contact_updated", .contactUpdates), ("circle_changed", .circleChanges),
    ])
    func `a switched-off kind skips the push and keeps the row`(kind: String, accountSwitch: AccountSwitch) async throws
    {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account([accountSwitch: false])
        try await installation.phone(.ios, of: account)
        let off = try await installation.notify(account, kind: kind, connection: UUID())
        #expect(try await installation.decision(of: off) == "switched_off")
        let system = try await installation.notify(account, kind: "system", title: "Maintenance")
        #expect(try await installation.ends(of: system, count: 1) == ["accepted"])
        #expect(installation.simulator.received().count == 1)
        #expect(try await installation.number("select count(*) from notifications") == 2)
        try await installation.stop(worker)
    }

    @Test func `a second update of the same connection is coalesced until the first is read`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.android, of: account)
        let anna = UUID()
        let first = try await installation.notify(account, kind: "contact_updated", connection: anna)
        let second = try await installation.notify(account, kind: "contact_updated", connection: anna)
        let other = try await installation.notify(account, kind: "contact_updated", connection: UUID())
        #expect(try await installation.decision(of: first) == "fanned_out")
        #expect(try await installation.decision(of: second) == "coalesced")
        #expect(try await installation.decision(of: other) == "fanned_out")
        _ = try await installation.admin.query("update notifications set read_at = now()")
        let third = try await installation.notify(account, kind: "contact_updated", connection: anna)
        #expect(try await installation.decision(of: third) == "fanned_out")
        try await installation.stop(worker)
    }

    @Test func `what was written while no worker ran is sent when one starts`() async throws {
        let installation = try await Installation.make()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let ids = try await (0..<20).asyncMap { _ in try await installation.notify(account, kind: "invitation_received")
        }
        let worker = try await installation.startWorker()
        for id in ids { #expect(try await installation.ends(of: id, count: 1) == ["accepted"]) }
        #expect(installation.simulator.received().count == 20)
        try await installation.stop(worker)
    }

    @Test func `a transaction that rolls back pushes nothing`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        try await installation.admin.run(
            script: """
                begin; insert into notifications (account_id, kind) values ('\(account.text)', 'invitation_received'); rollback
                """)
        let after = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: after, count: 1) == ["accepted"])
        #expect(installation.simulator.received().count == 1)
        try await installation.stop(worker)
    }
}

extension Sequence {
    func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
