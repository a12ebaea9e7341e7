import Fanout
import FoundationEssentials
import PushModel
import TestSupport
import Testing

/// Workers that plan notifications about one connection, each reading the facts at one moment and recording its
/// decision at a later one.
private struct World {
    var notifications: [Notification]
    var decisions: [UUID: FanoutDecision] = [:]
    private var read: [UUID: NotificationFacts] = [:]

    init(_ notifications: [Notification]) {
        self.notifications = notifications
    }

    enum Step: Equatable {
        case read(Int)
        case record(Int)
    }

    /// The definition of "earlier unread", word for word; the query is tested against the same elsewhere.
    private func earlierUnreadExists(for notification: Notification) -> Bool {
        self.notifications.contains { other in
            let isEarlier =
                other.createdAt != notification.createdAt
                ? other.createdAt < notification.createdAt : other.id.text < notification.id.text
            return other.id != notification.id && other.accountID == notification.accountID
                && other.kindName == notification.kindName && other.connectionID == notification.connectionID
                && other.readAt == nil && other.ignoredAt == nil
                && (isEarlier || self.decisions[other.id] == .fannedOut)
        }
    }

    mutating func take(_ step: Step) {
        switch step {
        case .read(let index):
            let notification = self.notifications[index]
            self.read[notification.id] = facts(
                notification, earlierUnreadExists: self.earlierUnreadExists(for: notification))
        case .record(let index):
            guard let facts = self.read[self.notifications[index].id] else { return }
            self.decisions[facts.notificationID] = planner.plan(facts, now: Sample.now).decision
        }
    }
}

@Suite struct CoalescingTests {
    /// Every order in which the reads and records of several workers can mix.
    private static func interleavings(_ count: Int) -> [[World.Step]] {
        let steps = (0..<count).flatMap { [World.Step.read($0), .record($0)] }
        return permutations(of: steps).filter { order in
            (0..<count).allSatisfy { index in
                guard let read = order.firstIndex(of: .read(index)), let record = order.firstIndex(of: .record(index))
                else { return false }
                return read < record
            }
        }
    }

    @Test(arguments: [NotificationKind.contactUpdated, .circleChanged])
    func twoWorkersInAnyInterleavingPushTheEarliest(_ kind: NotificationKind) {
        let three = [
            Sample.notification(kind, id: 9, createdAt: Sample.now - 3),
            // At the same moment: the id decides.
            Sample.notification(kind, id: 4, createdAt: Sample.now - 2),
            Sample.notification(kind, id: 5, createdAt: Sample.now - 2),
        ]
        for notifications in [Array(three.prefix(2)), three, Array(three.suffix(2))] {
            let orders = Self.interleavings(notifications.count)
            #expect(orders.count == (notifications.count == 3 ? 90 : 6))
            for order in orders {
                var world = World(notifications)
                for step in order { world.take(step) }
                let pushed = notifications.filter { world.decisions[$0.id] == .fannedOut }
                #expect(pushed == [notifications[0]], "\(order)")
                #expect(world.decisions.values.filter { $0 == .coalesced }.count == notifications.count - 1)
            }
        }
    }

    /// A row may be committed after a later one was planned already: then the later one was the push.
    @Test func arrivalInAnyOrderPushesOne() {
        let notifications = (1...4).map { Sample.notification(id: $0, createdAt: Sample.now + Double($0)) }
        for arrivals in permutations(of: notifications) {
            var world = World([])
            for (index, notification) in arrivals.enumerated() {
                world.notifications.append(notification)
                world.take(.read(index))
                world.take(.record(index))
            }
            #expect(world.decisions.values.filter { $0 == .fannedOut }.count == 1)
            #expect(world.decisions[arrivals[0].id] == .fannedOut)
        }
    }

    @Test func readingTheFirstLetsTheNextThrough() {
        var world = World((1...3).map { Sample.notification(id: $0, createdAt: Sample.now + Double($0)) })
        world.take(.read(0))
        world.take(.record(0))
        world.take(.read(1))
        world.take(.record(1))
        #expect(world.decisions[Sample.id(2)] == .coalesced)
        world.notifications[0].readAt = Sample.now
        world.notifications[1].readAt = Sample.now
        world.take(.read(2))
        world.take(.record(2))
        #expect(world.decisions[Sample.id(3)] == .fannedOut)
    }

    @Test func otherConnectionsAndKindsDoNotMatter() {
        var other = Sample.notification(id: 1, createdAt: Sample.now - 9)
        other.connectionID = Sample.id(0xC1)
        let circle = Sample.notification(.circleChanged, id: 2, createdAt: Sample.now - 9)
        var world = World([other, circle, Sample.notification(id: 3)])
        for index in 0..<3 {
            world.take(.read(index))
            world.take(.record(index))
        }
        #expect(world.decisions.values.allSatisfy { $0 == .fannedOut })
    }
}
