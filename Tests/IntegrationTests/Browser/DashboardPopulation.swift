import FoundationEssentials
import JSONWebToken
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// A queue as an operator may find it on a lively day: people with phones, all kinds and states, a paused provider.
struct DashboardPopulation: Sendable {
    struct Page: Sendable, CustomTestStringConvertible {
        var name: String
        var path: String
        var role = DashboardVisit.Role.operator

        var testDescription: String { self.name }
    }

    /// Every page there is, each in the states that look different.
    let pages: [Page]

    @TaskLocal static var current: DashboardPopulation?

    static func make(_ visit: DashboardVisit) async throws -> DashboardPopulation {
        let installation = visit.installation
        let anna = try await installation.account([.circleChanges: true])
        let bram = try await installation.account()
        let eva = try await installation.account([.contactUpdates: false])
        let nobody = try await installation.account()
        try await installation.phone(.ios, of: anna)
        try await installation.phone(.android, of: anna, locale: "nl")
        let annasPad = try await installation.phone(.ios, of: anna, locale: "nl-BE")
        try await installation.phone(.ios, of: bram, locale: "nl", state: .unregistered)
        let brams = try await installation.phone(.ios, of: bram, locale: "nl")
        try await installation.phone(.android, of: bram, state: .unregistered)
        try await installation.phone(.android, of: eva)
        let evas = try await installation.phone(.ios, of: eva, environment: .development, isKnown: false)
        installation.simulator.register([
            SimulatedDevice(platform: .ios, token: evas.token, environment: .development)
        ])

        // What goes well.
        let connection = UUID()
        let many = try await installation.notify(
            anna, kind: "contact_updated", connection: connection, actor: "Zoë van der Meulen-Østergaard",
            pronoun: "she", categories: ["phone", "address"])
        try await installation.notify(anna, kind: "contact_updated", connection: connection, actor: "Zoë")
        try await installation.notify(anna, kind: "circle_changed", connection: UUID(), actor: "Bram", pronoun: "he")
        try await installation.notify(anna, kind: "invitation_accepted", actor: "Sem")
        try await installation.notify(
            anna, kind: "system", title: "Maintenance on Sunday", body: "From 2 to 3 the app may be slow.")
        try await installation.notify(eva, kind: "contact_updated", connection: UUID(), actor: "Anna")
        try await installation.notify(nobody, kind: "invitation_received", actor: "Anna")
        #expect(try await installation.ends(of: many, count: 3) == ["accepted", "accepted", "accepted"])

        // What is refused, and what is put off.
        let first = try await installation.notify(bram, kind: "invitation_received", actor: "Anna", pronoun: "she")
        #expect(try await installation.ends(of: first, count: 3).count == 3)
        installation.simulator.setFaults(
            FaultPlan([
                FaultRule(.apns, token: brams.token, answer: .init(status: 413, reason: "PayloadTooLarge")),
                FaultRule(
                    .apns, token: annasPad.token,
                    answer: .init(status: 429, reason: "TooManyRequests", retryAfter: "900")),
                FaultRule(
                    .apns, token: evas.token, answer: .init(status: 403, reason: "BadEnvironmentKeyIdInToken")),
            ]))
        let refused = try await installation.notify(
            bram, kind: "contact_updated", connection: UUID(), actor: "Anna", categories: ["photo"])
        let second = try await installation.notify(bram, kind: "invitation_accepted", actor: "Jip")
        for id in [refused, second] {
            #expect(try await installation.ends(of: id, count: 1) == ["discarded PayloadTooLarge"])
        }
        try await installation.notify(eva, kind: "invitation_received", actor: "Sem", pronoun: "he")

        // FCM closed by a person, and work for it.
        try await visit.act(
            "/providers/fcm/pause", ["note": "Firebase reports an incident; wait for their all-clear (on call: Noor)"])
        try await installation.waitForHeartbeats(2)
        let held = try await installation.notify(anna, kind: "invitation_received", actor: "Fenna")
        let cancelled = try await installation.notify(anna, kind: "invitation_accepted", actor: "Jip")
        try await installation.notify(eva, kind: "system", title: "A new version is here")
        try await eventually {
            try await installation.number(
                "select count(*) from push.waiting where lease_token is null and notification_id in (\(held), \(cancelled))"
            ) == 4
        }
        try await visit.act("/deliveries/\(cancelled.text)/cancel", ["note": "written by mistake"])
        let retried = try await visit.delivery(of: second)
        try await visit.act("/deliveries/\(retried.text)/retry", ["note": "tried with a shorter text"])
        let bulk = try await visit.act(
            "/deliveries/retry", ["filter": ["account": .string(bram.text), "state": "discarded"]])
        let bulkID = try #require(
            try JSONDecoder().decode([String: JSONValue].self, from: Data(bulk.utf8))["id"]?.string)
        try await eventually {
            try await installation.number("select count(*) from push.bulk_actions where state = 'running'") == 0
        }
        #expect(try await installation.ends(of: refused, count: 1) == ["discarded PayloadTooLarge"])

        let waiting = try await installation.admin.query(
            """
            select w.delivery_id from push.waiting w where w.notification_id = \(held) and w.reason = 'TooManyRequests'
            """
        ).first
        let accepted = try await installation.admin.query(
            "select id from push.deliveries where notification_id = \(many) limit 1"
        ).first
        let operators = try await [
            Page(name: "overview", path: "/"), Page(name: "deliveries", path: "/deliveries"),
            Page(name: "deliveries-filtered", path: "/deliveries?account=\(bram.text)&state=discarded"),
            Page(name: "deliveries-none", path: "/deliveries?kind=system&state=cancelled&since=2h"),
            Page(name: "deliveries-fault", path: "/deliveries?account=anna"),
            Page(name: "delivery-accepted", path: "/deliveries/\(try #require(accepted).uuid(0).text)"),
            Page(name: "delivery-discarded", path: "/deliveries/\(visit.delivery(of: refused).text)"),
            Page(name: "delivery-waiting", path: "/deliveries/\(try #require(waiting).uuid(0).text)"),
            Page(name: "notification", path: "/notifications/\(first.text)?names=1"),
            Page(name: "notification-held", path: "/notifications/\(held.text)"),
            Page(name: "templates", path: "/templates"), Page(name: "database", path: "/database"),
            Page(name: "activity", path: "/activity"),
            Page(name: "confirm", path: "/deliveries/confirm?action=retry&account=\(bram.text)&state=discarded"),
            Page(name: "bulk", path: "/bulk/\(bulkID)"),
            Page(name: "not-found", path: "/deliveries/\(UUID().text)"),
        ]
        let viewers = [
            Page(name: "overview-viewer", path: "/", role: .viewer),
            Page(name: "notification-viewer", path: "/notifications/\(held.text)", role: .viewer),
        ]
        return DashboardPopulation(pages: operators + viewers)
    }

    /// An hour of a lively day, for the charts; it never happened, so it goes again.
    static func withHistory(_ installation: Installation, _ body: () async throws -> Void) async throws {
        try await installation.admin.query(
            """
            insert into push.counters (minute, name, labels, value, is_sum)
            select date_trunc('minute', now()) - make_interval(mins => m), c.name, c.labels, c.value, true
            from generate_series(2, 59) m
            cross join lateral (values
                ('decisions', 'of the past', (700 + 250 * sin(m / 9.0) + m * 37 % 110)::integer),
                ('attempts', 'apns of the past accepted', (600 + 200 * sin(m / 9.0) + m * 53 % 130)::integer),
                ('attempts', 'fcm of the past accepted', case when m > 20 then (300 + 80 * sin(m / 9.0))::integer else 0 end),
                ('attempts', 'apns of the past discarded', m * 17 % 40),
                ('attempts', 'fcm of the past available', case when m between 20 and 27 then 600 - 60 * abs(m - 23) else 0 end)
            ) as c (name, labels, value)
            where c.value > 0
            """)
        let result: Result<Void, any Error>
        do {
            try await body()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        try await installation.admin.query(
            "delete from push.counters where labels like '%of the past%'")
        try result.get()
    }
}

/// The population for all tests of a suite, inside of a visit.
struct DashboardPopulationTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let visit = try DashboardVisit.now()
        let population = try await DashboardPopulation.make(visit)
        try await DashboardPopulation.withHistory(visit.installation) {
            try await DashboardPopulation.$current.withValue(population) { try await function() }
        }
        try await visit.settle()
    }
}

extension Trait where Self == DashboardPopulationTrait {
    static var dashboardPopulation: Self { DashboardPopulationTrait() }
}
