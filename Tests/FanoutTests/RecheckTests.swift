import Fanout
import FoundationEssentials
import PushModel
import TestSupport
import Testing

@Suite struct RecheckTests {
    private func delivery() throws -> Delivery {
        try Sample.delivery(Sample.notification(), kind: .contactUpdated, device: Sample.iPhone(), badge: 1)
    }

    @Test func whatIsStillWantedIsSentAsThingsAreNow() throws {
        let planned = try self.delivery()
        var fresh = facts(Sample.notification(categories: ["phone"]))
        fresh.devices[0].locale = "nl-BE"
        fresh.devices[0].pushToken = "<\(Sample.hexadecimalToken.uppercased())>"
        fresh.devices[0].apnsEnvironment = .development
        fresh.unreadCount = 12
        // It may be that an earlier one is unread by now: this one was decided.
        fresh.earlierUnreadExists = true
        guard case .send(let delivery) = Recheck.decide(planned, facts: fresh, now: Sample.now) else {
            Issue.record("not sent")
            return
        }
        #expect(delivery.id == planned.id)
        #expect(delivery.expiresAt == planned.expiresAt)
        #expect(delivery.token == planned.token)
        #expect(delivery.badge == 12)
        #expect(delivery.device == fresh.devices[0])
        #expect(delivery.notification.categories == ["phone"])
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var name: String
        var expected: Recheck
        var change: @Sendable (inout NotificationFacts) -> Void

        init(_ name: String, _ expected: Recheck, _ change: @escaping @Sendable (inout NotificationFacts) -> Void) {
            self.name = name
            self.expected = expected
            self.change = change
        }

        var testDescription: String { self.name }
    }

    static let changes: [Change] = [
        Change("row gone", .cancel(.gone)) { $0.notification = nil },
        Change("account gone", .cancel(.gone)) { $0.account = nil },
        Change("kind changed", .cancel(.unknownKind)) { $0.notification?.kindName = "contact_removed" },
        Change("read", .cancel(.alreadyRead)) { $0.notification?.readAt = Sample.now },
        Change("ignored", .cancel(.ignored)) { $0.notification?.ignoredAt = Sample.now },
        Change("switched off", .cancel(.switchedOff)) { $0.account?.switchesOn.remove(.contactUpdates) },
        Change("device gone, or its token marked dead", .cancel(.tokenChanged)) { $0.devices.removeFirst() },
        Change("no token", .cancel(.tokenChanged)) { $0.devices[0].pushToken = nil },
        Change("another token", .cancel(.tokenChanged)) {
            $0.devices[0].pushToken = String(repeating: "ab", count: 32)
        },
        Change("a token that is none", .cancel(.tokenChanged)) { $0.devices[0].pushToken = "xyz" },
    ]

    @Test(arguments: changes)
    func whatIsNotWantedIsCancelled(_ change: Change) throws {
        var fresh = facts(Sample.notification())
        change.change(&fresh)
        let delivery = try self.delivery()
        #expect(Recheck.decide(delivery, facts: fresh, now: Sample.now) == change.expected)
    }

    @Test func otherSwitchesDoNotMatter() throws {
        var fresh = facts(Sample.notification())
        fresh.account?.switchesOn = [.contactUpdates]
        let delivery = try self.delivery()
        guard case .send = Recheck.decide(delivery, facts: fresh, now: Sample.now) else {
            Issue.record("not sent")
            return
        }
    }

    @Test func theLifetimeEndsOnTheSecond() throws {
        let delivery = try self.delivery()
        let fresh = facts(Sample.notification())
        #expect(Recheck.decide(delivery, facts: fresh, now: delivery.expiresAt) == .expired)
        #expect(Recheck.decide(delivery, facts: fresh, now: delivery.expiresAt - 1) != .expired)
    }

    @Test func withoutAPlannedTokenTheDeviceDecides() {
        let decide = { (facts: NotificationFacts) in
            Recheck.decide(
                id: Sample.id(0xE0), deviceID: Sample.iPhone().id, token: nil, expiresAt: Sample.now + 60, facts: facts,
                now: Sample.now)
        }
        guard case .send(let delivery) = decide(facts(Sample.notification())) else {
            Issue.record("not sent")
            return
        }
        #expect(delivery.token.text == Sample.hexadecimalToken)
        #expect(decide(facts(Sample.notification(), devices: [])) == .cancel(.tokenChanged))
    }
}
