internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct FactsTests {
    @Test func `a row is read as it stands`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account(invitations: false, contactUpdates: true, circleChanges: false)
            let device = try await queue.device(
                of: account, platform: .android, token: "a:token", locale: "nl-BE", environment: .development)
            try await queue.owner.query(
                """
                update devices set push_target = 'fid', push_token_updated_at = '2026-02-03 04:05:06.789+00'
                """)
            let (id, connection) = (UUID(), UUID())
            let name = "Ann \"the\" \\ O'Neill\t😀 {name} \u{202E}"
            try await queue.owner.query(
                """
                insert into notifications
                    (id, account_id, kind, connection_id, actor_name, actor_pronoun, categories, title, body, translations,
                    created_at, read_at, ignored_at)
                values (\(id), \(account), 'contact_updated', \(connection), \(name), 'he', \(["phone", "a,b", "\"", "NULL"]),
                    'T', 'B', \(#"{"nl": {"title": "Hallo", "body": "Tekst"}, "fr": {"title": "Salut"}}"#)::jsonb,
                    now() - interval '1 hour', now() - interval '2 minutes', now() - interval '1 minute')
                """)
            let calls = try await QueueCalls(queue)
            let claimed = try await calls.claimOne()
            let notification = try #require(claimed.notification)
            #expect(notification.id == id)
            #expect(notification.accountID == account)
            #expect(notification.kindName == "contact_updated")
            #expect(notification.connectionID == connection)
            #expect(notification.actorName == name)
            #expect(notification.actorPronoun == .he)
            #expect(notification.categories == ["phone", "a,b", "\"", "NULL"])
            #expect(notification.title == "T")
            #expect(notification.body == "B")
            #expect(
                notification.translations == [
                    "nl": .init(title: "Hallo", body: "Tekst"), "fr": .init(title: "Salut", body: nil),
                ])
            #expect(abs(notification.createdAt.timeIntervalSinceNow + 3600) < 60)
            #expect(abs(try #require(notification.readAt).timeIntervalSinceNow + 120) < 60)
            #expect(abs(try #require(notification.ignoredAt).timeIntervalSinceNow + 60) < 60)
            #expect(claimed.account == Account(id: account, switchesOn: [.contactUpdates]))
            #expect(
                claimed.devices == [
                    Device(
                        id: device, platform: .android, pushToken: "a:token", pushTarget: .fid, locale: "nl-BE",
                        apnsEnvironment: .development,
                        pushTokenUpdatedAt: Date(timeIntervalSince1970: 1_770_091_506.789))
                ])
            #expect(claimed.lane == .normal)
            #expect(claimed.origin == .trigger)
            // Read again, the same but for what only the planner needs.
            let read = try #require(try await calls.read([id])[id])
            #expect(read.notification == notification)
            #expect(read.devices == claimed.devices)
            #expect(read.account == claimed.account)
        }
    }

    @Test(
        arguments: [
            ("null", [:]), ("{}", [:]), ("[]", [:]), ("[1, 2]", [:]), ("5", [:]), ("\"text\"", [:]), ("true", [:]),
            (#"{"nl": null}"#, [:]), (#"{"nl": "text"}"#, [:]), (#"{"nl": ["a"]}"#, [:]), (#"{"nl": {}}"#, [:]),
            (#"{"nl": {"title": 5}}"#, [:]), (#"{"nl": {"title": null, "body": null}}"#, [:]),
            (#"{"nl": {"title": {"deep": 1e400}}, "en": {"body": "ok"}}"#, ["en": ["", "ok"]]),
            (#"{"nl": "text", "en": {"title": "ok", "body": 7, "other": [1]}}"#, ["en": ["ok", ""]]),
            (#"{"": {"title": "no language"}}"#, ["": ["no language", ""]]),
            (#"{"nl": {"title": "", "body": "q\"\\\u00e9😀"}}"#, ["nl": ["", "q\"\\é😀"]]),
        ] as [(String, [String: [String]])])
    func `translations of any shape are read or left out`(_ json: String, _ expected: [String: [String]]) async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            try await queue.owner.query(
                "insert into notifications (account_id, kind, translations) values (\(account), 'system', \(json)::jsonb)"
            )
            let facts = try await QueueCalls(queue).claimOne()
            let translations = try #require(facts.notification).translations
            #expect(translations.mapValues { [$0.title ?? "", $0.body ?? ""] } == expected)
        }
    }

    /// Case 10: what no clock and no form writes must not keep its neighbours from being claimed.
    @Test(arguments: [
        "created_at = 'infinity'", "created_at = '-infinity'", "created_at = '0044-03-15 BC'",
        "created_at = '290000-01-01'", "read_at = 'infinity'", "ignored_at = '-infinity'",
        "categories = array[array['phone', 'name'], array['email', null]]", "categories = '{}'",
        "categories = '[5:6]={a,b}'", "categories = array[null]::text[]", "translations = '{\"a\": 1e1000}'",
        "actor_name = ''", "actor_pronoun = 'xyz'", "kind = ''", "kind = repeat('k', 100000)",
        "title = repeat('t', 1000000)",
    ])
    func `an odd row does not hold up its neighbours`(_ change: String) async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            try await queue.device(of: account)
            try await queue.owner.query("update devices set push_token_updated_at = 'infinity'")
            let odd = try await queue.notification(to: account, kind: "contact_updated", connection: UUID())
            let good = try await queue.notification(to: account)
            try await queue.owner.query("update notifications set \(unescaped: change) where id = \(odd)")
            let calls = try await QueueCalls(queue)
            let batch = try #require(try await calls.claim())
            #expect(Set(batch.facts.map(\.notificationID)) == [odd, good])
            #expect(batch.facts.allSatisfy { $0.notification != nil && $0.devices.count == 1 })
            let read = try #require(batch.facts.first { $0.notificationID == odd }?.notification)
            #expect(read.createdAt > Date(timeIntervalSince1970: 0))
            #expect(read.createdAt < Date(timeIntervalSinceNow: 90_000))
            #expect((read.readAt != nil) == change.hasPrefix("read_at"))
            #expect((read.ignoredAt != nil) == change.hasPrefix("ignored_at"))
        }
    }

    @Test func `what is gone is told from what is there`() async throws {
        try await QueueDatabase.withOwn { queue in
            let account = try await queue.account()
            let calls = try await QueueCalls(queue)
            let deleted = try await queue.notification(to: account)
            try await queue.owner.query("delete from notifications")
            let facts = try await calls.claimOne()
            #expect(facts.notificationID == deleted)
            #expect(facts.notification == nil)
            #expect(facts.account == nil)
            #expect(facts.devices.isEmpty)
            // An app without foreign keys: the account is gone, the row is not.
            try await queue.owner.query("alter table notifications drop constraint notifications_account_id_fkey")
            try await queue.notification(to: UUID())
            let orphan = try await calls.claimOne()
            #expect(orphan.notification != nil)
            #expect(orphan.account == nil)
            let read = try await calls.read([deleted, orphan.notificationID])
            #expect(read[deleted]?.notification == nil)
            #expect(read[orphan.notificationID]?.notification != nil)
        }
    }

    @Test func `columns that a view leaves null have the defaults`() async throws {
        try await QueueDatabase.withOwn { queue in
            try await queue.owner.run(
                script: """
                    alter table accounts alter notify_invitations drop not null,
                        alter notify_contact_updates drop not null, alter notify_circle_changes drop not null;
                    alter table devices alter push_target drop not null, alter locale drop not null,
                        alter apns_environment drop not null, alter push_token_updated_at drop not null;
                    alter table notifications alter created_at drop not null, alter kind drop not null;
                    """)
            let account = try await queue.account()
            try await queue.device(of: account)
            let id = try await queue.notification(to: account)
            try await queue.owner.run(
                script: """
                    update accounts set notify_invitations = null, notify_contact_updates = null,
                        notify_circle_changes = null;
                    update devices set push_target = null, locale = null, apns_environment = null,
                        push_token_updated_at = null;
                    update notifications set created_at = null, kind = null, actor_name = null;
                    """)
            let facts = try await QueueCalls(queue).claimOne()
            #expect(facts.notificationID == id)
            #expect(facts.account?.switchesOn == [.invitations, .contactUpdates])
            #expect(facts.notification?.kindName == "")
            #expect(abs(try #require(facts.notification).createdAt.timeIntervalSinceNow) < 60)
            let device = try #require(facts.devices.first)
            #expect(device.locale == "")
            #expect(device.pushTarget == .token)
            #expect(device.apnsEnvironment == .production)
            #expect(device.pushTokenUpdatedAt == nil)
        }
    }

    @Test func `only devices with a live token are read`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let other = try await queue.account()
            let ios = try await queue.device(of: account)
            let android = try await queue.device(of: account, platform: .android)
            let without = try await queue.device(of: account)
            let dead = try await queue.device(of: account)
            try await queue.device(of: other)
            try await queue.owner.query("update devices set push_token = null where id = \(without)")
            try await queue.owner.query("update devices set push_token_invalidated_at = now() where id = \(dead)")
            try await queue.notification(to: account)
            let calls = try await QueueCalls(queue)
            let facts = try await calls.claimOne()
            #expect(Set(facts.devices.map(\.id)) == [ios, android])
        }
    }

    @Test func `the unread count leaves out what is read or ignored, and other accounts`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let other = try await queue.account()
            let calls = try await QueueCalls(queue)
            var ids: [UUID] = []
            for _ in 0..<5 { ids.append(try await queue.notification(to: account)) }
            try await queue.notification(to: other)
            try await queue.owner.query("update notifications set read_at = now() where id = \(ids[0])")
            try await queue.owner.query("update notifications set ignored_at = now() where id = \(ids[1])")
            let batch = try #require(try await calls.claim())
            #expect(batch.facts.count == 6)
            for facts in batch.facts {
                #expect(facts.unreadCount == (facts.notification?.accountID == account ? 3 : 1))
            }
            try await queue.owner.query("update notifications set read_at = now() where account_id = \(account)")
            let read = try await calls.read(ids)
            #expect(read.values.allSatisfy { $0.unreadCount == 0 })
        }
    }
}

@Suite(.serialized) struct EarlierUnreadTests {
    /// What stands in the row beside the one that is claimed, and whether it says the same earlier.
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var change: String = ""
        var sameConnection = true
        var sameKind = true
        var decided: FanoutDecision?
        var isEarlier = true
        var expected: Bool
        var testDescription: String { self.name }
    }

    @Test(arguments: [
        Case(name: "earlier and unread", expected: true),
        Case(name: "later", isEarlier: false, expected: false),
        Case(name: "later, but fanned out", decided: .fannedOut, isEarlier: false, expected: true),
        Case(name: "later, and coalesced itself", decided: .coalesced, isEarlier: false, expected: false),
        Case(name: "read", change: "read_at = now()", expected: false),
        Case(name: "ignored", change: "ignored_at = now()", expected: false),
        Case(name: "read, fanned out", change: "read_at = now()", decided: .fannedOut, expected: false),
        Case(name: "of another connection", sameConnection: false, expected: false),
        Case(name: "of another kind", sameKind: false, expected: false),
    ])
    func `an earlier unread one of the same kind and connection is found`(_ one: Case) async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let connection = UUID()
            let now = Date()
            let calls = try await QueueCalls(queue)
            let other = try await queue.notification(
                to: account, kind: one.sameKind ? "contact_updated" : "circle_changed",
                connection: one.sameConnection ? connection : UUID(),
                createdAt: now.addingTimeInterval(one.isEarlier ? -10 : 10))
            if !one.change.isEmpty {
                try await queue.owner.query("update notifications set \(unescaped: one.change)")
            }
            if let decision = one.decided {
                try await calls.record(QueueRecord(decisions: [.other(other, decision)]))
            }
            try await queue.owner.query("delete from push.outbox")
            try await queue.notification(to: account, kind: "contact_updated", connection: connection, createdAt: now)
            #expect(try await calls.claimOne().earlierUnreadExists == one.expected)
        }
    }

    @Test func `of rows of the same moment, the one with the smallest id is the first, in any order of claims`()
        async throws
    {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let (connection, now) = (UUID(), Date())
            var ids: [UUID] = []
            for _ in 0..<4 {
                ids.append(
                    try await queue.notification(
                        to: account, kind: "circle_changed", connection: connection, createdAt: now))
            }
            let first = try #require(ids.map(\.text).min())
            let calls = try await QueueCalls(queue)
            while let batch = try await calls.claim(1) {
                for facts in batch.facts {
                    #expect(facts.earlierUnreadExists == (facts.notificationID.text != first))
                }
            }
        }
    }

    @Test func `kinds that do not coalesce, and rows without a connection, have no earlier one`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let connection = UUID()
            for (kind, connection) in [("invitation_received", connection), ("contact_updated", nil)] {
                for _ in 0..<2 { try await queue.notification(to: account, kind: kind, connection: connection) }
            }
            let batch = try #require(try await QueueCalls(queue).claim())
            #expect(batch.facts.count == 4)
            #expect(batch.facts.allSatisfy { !$0.earlierUnreadExists })
        }
    }
}
