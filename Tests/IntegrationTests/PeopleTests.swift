import DeliveryQueue
import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// From what people do, through the functions of the reference schema, to what their phones show.
@Suite(.serialized) struct PeopleTests {
    @Test func `two people meet, change something, and part, and each hears what concerns them`() async throws {
        let people = try await People.make()
        let worker = try await people.installation.startWorker()
        let (anna, bram) = (try await people.signUp("Anna", "she"), try await people.signUp("Bram", "he"))
        let phones = (
            anna: try await people.phone(.ios, of: anna, locale: "nl-NL"), bram: try await people.phone(.ios, of: bram)
        )
        func pushed(_ kind: String, to person: People.Person) async throws {
            let id = try #require(try await people.newest(kind, of: person))
            #expect(try await people.installation.ends(of: id, count: 1) == ["accepted"])
        }

        let friends = try await people.circle("friends", of: anna)
        let number = try await people.id(
            anna.account,
            "select save_detail('phone', '\"+31612345678\"', 'mobile', array[\(friends)::uuid])")
        try await people.act(anna.account, "select send_invitation(\(bram.profile), \(friends))")
        try await pushed("invitation_received", to: bram)
        #expect(people.shown(on: phones.bram) == ["New invitation", "Anna wants to connect with you"])

        let circle = try await people.circle("friends", of: bram)
        try await people.act(
            bram.account, "select accept_invitation(invitation_id, \(circle)) from received_invitations()")
        try await pushed("invitation_accepted", to: anna)
        #expect(people.shown(on: phones.anna) == ["Bram heeft geaccepteerd", "Jullie zijn nu verbonden"])

        try await people.act(
            anna.account,
            """
            select save_details(jsonb_build_array(
                jsonb_build_object('id', \(number)::uuid, 'category', 'phone', 'value', '+31687654321')))
            """)
        try await pushed("contact_updated", to: bram)
        #expect(people.shown(on: phones.bram) == ["Anna updated her details", "Phone number"])
        // While that is unread, another change says nothing new.
        try await people.act(
            anna.account,
            "select save_detail('photo', '{\"path\": \"a.jpg\"}', p_circle_ids => array[\(friends)::uuid])")
        #expect(
            try await people.act(bram.account, "select count(*) from notifications where kind = 'contact_updated'")
                .single().int(0) == 1)

        try await people.act(bram.account, "update accounts set notify_circle_changes = true")
        let family = try await people.circle("family", of: anna)
        try await people.act(anna.account, "select move_connection(id, \(family)) from connections")
        try await pushed("circle_changed", to: bram)
        #expect(people.shown(on: phones.bram) == ["Anna changed what you can see"])

        // Whoever ends a connection tells nobody.
        let before = try await people.installation.number("select count(*) from notifications")
        try await people.act(anna.account, "select end_connection(id) from connections")
        #expect(try await people.installation.number("select count(*) from notifications") == before)
        #expect(people.installation.simulator.received().count == 4)

        // What Anna's number is stands nowhere but in her details.
        for table in ["notifications", "push.outbox", "push.fanouts", "push.attempts", "push.waiting"] {
            let found = try await people.installation.number(
                "select count(*) from \(unescaped: table) t where to_jsonb(t)::text ~ '8765432|1234567|a.jpg'")
            #expect(found == 0, "\(table)")
        }
        let said = people.installation.simulator.received().map(\.body) + worker.lines.map(\.text)
        #expect(!said.contains { $0.contains("87654321") || $0.contains("12345678") })
        try await people.stop(worker)
    }

    @Test func `an invitation that is taken back before its push went out is never shown`() async throws {
        let people = try await People.make()
        let worker = try await people.installation.startWorker()
        let (anna, bram) = (try await people.signUp("Anna"), try await people.signUp("Bram"))
        _ = try await people.phone(.ios, of: bram)
        _ = try await people.phone(.android, of: bram)
        let paused = ProviderPause.pause(ProviderEndpoint.allCases, reason: "a test", by: "test")
        try await people.installation.admin.query(paused)
        try await people.installation.waitForHeartbeats(2)

        let friends = try await people.circle("friends", of: anna)
        let invitation = try await people.id(
            anna.account, "select send_invitation(\(bram.profile), \(friends))")
        let id = try #require(try await people.newest("invitation_received", of: bram))
        try await eventually {
            try await people.installation.number(
                "select count(*) from push.waiting where notification_id = \(id)") == 2
        }
        try await people.act(anna.account, "select cancel_invitation(\(invitation))")
        try await people.installation.resume()
        #expect(try await people.installation.ends(of: id, count: 2) == ["cancelled gone", "cancelled gone"])
        #expect(people.installation.simulator.received().isEmpty)
        try await people.stop(worker)
    }

    @Test func `a phone goes with who is signed in on it`() async throws {
        let people = try await People.make()
        let worker = try await people.installation.startWorker()
        let (anna, bram) = (try await people.signUp("Anna"), try await people.signUp("Bram"))
        let dirk = try await people.signUp("Dirk")
        let token = try await people.phone(.ios, of: bram)
        func invite(_ person: People.Person) async throws -> UUID {
            let friends = try await people.circle("friends", of: anna)
            try await people.act(anna.account, "select send_invitation(\(person.profile), \(friends))")
            return try #require(try await people.newest("invitation_received", of: person))
        }
        // Dirk signs in on Bram's phone.
        try await people.act(dirk.account, "select register_phone('ios', \(token), 'nl')")
        #expect(try await people.installation.decision(of: try await invite(bram)) == "no_devices")
        #expect(try await people.installation.ends(of: try await invite(dirk), count: 1) == ["accepted"])
        #expect(people.shown(on: token) == ["Nieuwe uitnodiging", "Anna wil met je in contact komen"])
        // And signs out.
        #expect(try await people.act(dirk.account, "select remove_phone(\(token))").single().bool(0))
        let friends = try await people.circle("friends", of: dirk)
        try await people.act(
            dirk.account, "select accept_invitation(invitation_id, \(friends)) from received_invitations()")
        try await people.act(anna.account, "select save_detail('name', '\"Anna B\"', p_is_default => true)")
        let id = try #require(try await people.newest("contact_updated", of: dirk))
        #expect(try await people.installation.decision(of: id) == "no_devices")
        // What was sent to the phone cannot be told from its address any more: its row is gone.
        try await people.stop(worker, Expectations(unrecordedSends: 1))
    }
}
