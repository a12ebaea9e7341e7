import Fanout
import FoundationEssentials
import PushModel
import TestSupport
import Testing

let planner = Planner(lifetime: { _ in .seconds(28 * 86_400) })

/// Facts about one notification of an account with an iPhone and an Android phone, all switches on.
func facts(
    _ notification: Notification?, account: Account? = Sample.account, earlierUnreadExists: Bool = false,
    devices: [Device] = [Sample.iPhone(), Sample.android()], prior: FanoutDecision? = nil, settled: Set<UUID> = []
) -> NotificationFacts {
    NotificationFacts(
        notificationID: notification?.id ?? Sample.id(1), notification: notification, account: account,
        earlierUnreadExists: earlierUnreadExists, unreadCount: 7, devices: devices, priorDecision: prior,
        settledDeviceIDs: settled)
}

@Suite struct PlannerTests {
    // MARK: - What a plan holds

    @Test(arguments: NotificationKind.all)
    func everyDeviceGetsADelivery(of kind: NotificationKind) {
        let notification = Sample.notification(kind)
        let plan = planner.plan(facts(notification), now: Sample.now)
        #expect(plan.decision == .fannedOut)
        #expect(plan.decisionIsNew)
        #expect(plan.notificationID == notification.id)
        #expect(plan.deliveries.map(\.device) == [Sample.iPhone(), Sample.android()])
        #expect(plan.deliveries.map(\.token.text) == [Sample.hexadecimalToken, Sample.registrationToken])
        #expect(plan.refused.isEmpty && plan.cancelled.isEmpty)
        for delivery in plan.deliveries {
            #expect(delivery.notification == notification)
            #expect(delivery.kind == kind)
            #expect(delivery.badge == 7)
            #expect(delivery.expiresAt == Sample.now + 28 * 86_400)
            #expect(delivery.id == DeliveryID.make(notification: notification.id, device: delivery.device.id))
        }
    }

    // MARK: - Rules

    struct Rule: Sendable, CustomTestStringConvertible {
        var name: String
        var facts: NotificationFacts
        var decision: FanoutDecision

        init(
            _ name: String, _ decision: FanoutDecision, _ kind: NotificationKind = .contactUpdated,
            change: (inout NotificationFacts) -> Void
        ) {
            self.name = name
            self.facts = FanoutTests.facts(Sample.notification(kind))
            self.decision = decision
            change(&self.facts)
        }

        var testDescription: String { self.name }
    }

    static let rules: [Rule] = [
        Rule("the row is gone", .gone) { $0.notification = nil },
        Rule("the account is gone", .gone) { $0.account = nil },
        Rule("the kind is retired", .unknownKind) { $0.notification?.kindName = "contact_removed" },
        Rule("the kind is spelled otherwise", .unknownKind) { $0.notification?.kindName = "Contact_Updated" },
        Rule("the kind is empty", .unknownKind) { $0.notification?.kindName = "" },
        Rule("its lifetime is just over", .tooOld) { $0.notification?.createdAt = Sample.now - 28 * 86_400 },
        Rule("its lifetime is not quite over", .fannedOut) {
            $0.notification?.createdAt = Sample.now - 28 * 86_400 + 1
        },
        Rule("it comes from a clock that is fast", .fannedOut) { $0.notification?.createdAt = Sample.now + 3600 },
        Rule("it is ignored", .ignored) { $0.notification?.ignoredAt = Sample.now },
        Rule("it is read", .alreadyRead) { $0.notification?.readAt = Sample.now },
        Rule("an earlier unread one says the same", .coalesced) { $0.earlierUnreadExists = true },
        Rule("a circle changed again", .coalesced, .circleChanged) { $0.earlierUnreadExists = true },
        Rule("there is no connection to say the same of", .fannedOut) {
            $0.earlierUnreadExists = true
            $0.notification?.connectionID = nil
        },
        Rule("an invitation never coalesces", .fannedOut, .invitationReceived) { $0.earlierUnreadExists = true },
        Rule("an acceptance never coalesces", .fannedOut, .invitationAccepted) { $0.earlierUnreadExists = true },
        Rule("a system message never coalesces", .fannedOut, .system) { $0.earlierUnreadExists = true },
        Rule("there are no devices", .noDevices) { $0.devices = [] },
        Rule("no device has a token", .noDevices) { $0.devices = [Sample.iPhone(token: nil)] },
    ]

    @Test(arguments: rules)
    func decides(_ rule: Rule) {
        let plan = planner.plan(rule.facts, now: Sample.now)
        #expect(plan.decision == rule.decision)
        #expect(plan.decisionIsNew)
        #expect(plan.deliveries.isEmpty == (rule.decision != .fannedOut))
        #expect(plan.cancelled.isEmpty)
    }

    @Test(arguments: NotificationKind.all, AccountSwitch.allCases)
    func aSwitchTurnsOffItsKindsAlone(_ kind: NotificationKind, _ off: AccountSwitch) {
        var account = Sample.account
        account.switchesOn.remove(off)
        let plan = planner.plan(facts(Sample.notification(kind), account: account), now: Sample.now)
        #expect(plan.decision == (kind.accountSwitch == off ? .switchedOff : .fannedOut))
    }

    @Test func systemIsPushedWithEverySwitchOff() {
        let account = Account(id: Sample.account.id, switchesOn: [])
        for kind in NotificationKind.all {
            let plan = planner.plan(facts(Sample.notification(kind), account: account), now: Sample.now)
            #expect(plan.decision == (kind == .system ? .fannedOut : .switchedOff))
        }
    }

    @Test func lifetimesDifferByKind() {
        let planner = Planner(lifetime: { $0 == .system ? .seconds(3600) : .seconds(60) })
        let old = Sample.now - 600
        for kind in NotificationKind.all {
            let plan = planner.plan(facts(Sample.notification(kind, createdAt: old)), now: Sample.now)
            #expect(plan.decision == (kind == .system ? .fannedOut : .tooOld))
            #expect(plan.deliveries.allSatisfy { $0.expiresAt == old + 3600 })
        }
    }

    /// Each rule wins over those after it.
    @Test func rulesHaveAnOrder() {
        let steps: [(FanoutDecision, (inout NotificationFacts) -> Void)] = [
            (.noDevices, { $0.devices = [] }),
            (.coalesced, { $0.earlierUnreadExists = true }),
            (.switchedOff, { $0.account?.switchesOn = [] }),
            (.alreadyRead, { $0.notification?.readAt = Sample.now }),
            (.ignored, { $0.notification?.ignoredAt = Sample.now }),
            (.tooOld, { $0.notification?.createdAt = .distantPast }),
            (.unknownKind, { $0.notification?.kindName = "x" }),
            (.gone, { $0.account = nil }),
        ]
        var facts = facts(Sample.notification())
        for (decision, change) in steps {
            change(&facts)
            #expect(planner.plan(facts, now: Sample.now).decision == decision)
        }
    }

    // MARK: - Devices

    @Test(arguments: [
        (Sample.iPhone(token: nil), "token_empty"), (Sample.iPhone(token: ""), "token_empty"),
        (Sample.iPhone(token: "xyz"), "token_not_hexadecimal"), (Sample.iPhone(token: "abc"), "token_odd_length"),
        (Sample.iPhone(token: "abcd"), "token_bad_length"),
        (Sample.iPhone(token: Sample.registrationToken), "token_not_hexadecimal"),
        (Sample.android(token: "a b"), "token_forbidden_character"), (Sample.android(token: " "), "token_empty"),
    ])
    func aMalformedTokenIsRefusedWithItsReason(_ device: Device, _ reason: String) throws {
        let good = Sample.iPhone(0xDF, token: String(repeating: "ab", count: 32))
        let plan = planner.plan(facts(Sample.notification(), devices: [device, good]), now: Sample.now)
        #expect(plan.decision == .fannedOut)
        #expect(plan.deliveries.map(\.device) == [good])
        let refused = try #require(plan.refused.first)
        #expect(plan.refused.count == 1)
        #expect(refused.device == device)
        #expect(refused.reason == reason)
        #expect(refused.id == DeliveryID.make(notification: plan.notificationID, device: device.id))
    }

    @Test func aTokenIsSentInOneForm() {
        let device = Sample.iPhone(token: "<\(Sample.hexadecimalToken.uppercased())>")
        let plan = planner.plan(facts(Sample.notification(), devices: [device]), now: Sample.now)
        #expect(plan.deliveries.map(\.token.text) == [Sample.hexadecimalToken])
    }

    @Test func theSamePhoneStoredTwiceIsPushedToOnce() {
        let old = Sample.iPhone(0xD0, updatedAt: Sample.now - 60)
        let new = Sample.iPhone(0xD1, token: Sample.hexadecimalToken.uppercased(), updatedAt: Sample.now)
        let undated = Sample.iPhone(0xD2)
        for devices in permutations(of: [old, new, undated]) {
            let plan = planner.plan(facts(Sample.notification(), devices: devices), now: Sample.now)
            #expect(plan.deliveries.map(\.device) == [new])
            #expect(Set(plan.refused.map(\.device.id)) == [old.id, undated.id])
            #expect(plan.refused.allSatisfy { $0.reason == "duplicate_token" })
        }
    }

    @Test func betweenEqualsTheSmallerIDWins() {
        let devices = [Sample.iPhone(0xD5), Sample.iPhone(0xD4), Sample.iPhone(0xD6)]
        for devices in permutations(of: devices) {
            let plan = planner.plan(facts(Sample.notification(), devices: devices), now: Sample.now)
            #expect(plan.deliveries.map(\.device.id) == [Sample.id(0xD4)])
        }
    }

    @Test func oneTextIsTwoAddressesOnTwoPlatformsOrTargets() {
        let token = Sample.hexadecimalToken
        let devices = [
            Sample.iPhone(0xD0, token: token), Sample.android(0xD1, token: token),
            Sample.android(0xD2, token: token, target: .fid),
        ]
        let plan = planner.plan(facts(Sample.notification(), devices: devices), now: Sample.now)
        #expect(plan.deliveries.count == 3)
    }

    // MARK: - A notification that comes again

    @Test(arguments: FanoutDecision.allCases.filter { $0 != .fannedOut })
    func whatWasDecidedStays(_ decision: FanoutDecision) {
        let plan = planner.plan(facts(Sample.notification(), prior: decision), now: Sample.now)
        #expect(plan == FanoutPlan(notificationID: Sample.id(1), decision: decision, decisionIsNew: false))
    }

    @Test func aRescueSendsToTheDevicesThatHaveNoEnd() {
        let plan = planner.plan(
            facts(Sample.notification(), prior: .fannedOut, settled: [Sample.iPhone().id]), now: Sample.now)
        #expect(plan.decision == .fannedOut)
        #expect(!plan.decisionIsNew)
        #expect(plan.deliveries.map(\.device) == [Sample.android()])
        #expect(plan.refused.isEmpty && plan.cancelled.isEmpty)
    }

    @Test func aRescueOfWhatIsDoneDoesNothing() {
        let settled: Set = [Sample.iPhone().id, Sample.android().id]
        let plan = planner.plan(facts(Sample.notification(), prior: .fannedOut, settled: settled), now: Sample.now)
        #expect(plan == FanoutPlan(notificationID: Sample.id(1), decision: .fannedOut, decisionIsNew: false))
    }

    /// The notification that was pushed is the reason why others were dropped: if it were dropped too, nobody would
    /// hear of anything.
    @Test func aRescueIsNotCoalesced() {
        let plan = planner.plan(
            facts(Sample.notification(), earlierUnreadExists: true, prior: .fannedOut), now: Sample.now)
        #expect(plan.decision == .fannedOut)
        #expect(plan.deliveries.count == 2)
    }

    @Test func aRescueWithoutDevicesIsStillFannedOut() {
        let plan = planner.plan(facts(Sample.notification(), devices: [], prior: .fannedOut), now: Sample.now)
        #expect(plan.decision == .fannedOut)
    }

    @Test func whatWasSentBeforeTheDecisionWasRecordedWasFannedOut() {
        let plan = planner.plan(
            facts(Sample.notification(), earlierUnreadExists: true, settled: [Sample.iPhone().id]), now: Sample.now)
        #expect(plan.decision == .fannedOut)
        #expect(plan.decisionIsNew)
        #expect(plan.deliveries.map(\.device) == [Sample.android()])
    }

    @Test func aRescueCancelsWhatIsNotWantedAnyMore() {
        let changes: [(DeliveryReason, (inout NotificationFacts) -> Void)] = [
            (.gone, { $0.notification = nil }),
            (.gone, { $0.account = nil }),
            (.alreadyRead, { $0.notification?.readAt = Sample.now }),
            (.ignored, { $0.notification?.ignoredAt = Sample.now }),
            (.switchedOff, { $0.account?.switchesOn = [] }),
            (.expired, { $0.notification?.createdAt = .distantPast }),
            (.unknownKind, { $0.notification?.kindName = "contact_removed" }),
        ]
        for (reason, change) in changes {
            for prior in [FanoutDecision.fannedOut, nil] {
                var facts = facts(Sample.notification(), prior: prior, settled: [Sample.iPhone().id])
                change(&facts)
                let plan = planner.plan(facts, now: Sample.now)
                #expect(plan.decision == .fannedOut)
                #expect(plan.deliveries.isEmpty && plan.refused.isEmpty)
                #expect(
                    plan.cancelled == [
                        CancelledDelivery(
                            id: DeliveryID.make(notification: Sample.id(1), device: Sample.android().id),
                            device: Sample.android(), reason: reason)
                    ])
            }
        }
    }

    @Test func aTokenThatIsSettledIsNotSentToThroughAnotherDevice() {
        let settled = Sample.iPhone(0xD0, updatedAt: Sample.now - 60)
        let moved = Sample.iPhone(0xD1, updatedAt: Sample.now)
        let plan = planner.plan(
            facts(Sample.notification(), devices: [settled, moved], prior: .fannedOut, settled: [settled.id]),
            now: Sample.now)
        #expect(plan.deliveries.isEmpty)
        #expect(plan.refused.map(\.reason) == ["duplicate_token"])
    }

    // MARK: - Ids

    @Test func aDeliveryIDIsTheSameEverywhereAndAlways() {
        let id = DeliveryID.make(notification: Sample.id(1), device: Sample.id(0xD0))
        // Computed elsewhere, with Python's hashlib.
        #expect(id.text == "cca4203b-5c25-5f67-916f-6ac97c760f54")
        #expect(DeliveryID.make(notification: Sample.id(0xD0), device: Sample.id(1)) != id)
    }
}

func permutations<Element>(of elements: [Element]) -> [[Element]] {
    guard let first = elements.first else { return [[]] }
    return permutations(of: Array(elements.dropFirst())).flatMap { rest in
        (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
    }
}
