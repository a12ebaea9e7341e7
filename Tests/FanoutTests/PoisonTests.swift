import Fanout
import PushModel
import TestSupport
import Testing

/// A notification that takes its worker along, again and again.
@Suite struct PoisonTests {
    @Test(arguments: [(0, false), (3, false), (5, false), (6, true), (60, true)])
    func `it ends after bounded rescues, and says why`(_ rescues: Int, _ isGivenUp: Bool) {
        let device = Sample.iPhone()
        let notification = Sample.notification()
        let facts = NotificationFacts(
            notificationID: notification.id, origin: .rescue, notification: notification,
            account: Account(id: notification.accountID, switchesOn: Set(AccountSwitch.allCases)), devices: [device],
            rescues: rescues)
        let plan = Planner { _ in .seconds(86_400) }.plan(facts, now: Sample.now)
        #expect(plan.decision == .fannedOut)
        #expect(plan.deliveries.isEmpty == isGivenUp)
        #expect(plan.cancelled.map(\.reason) == (isGivenUp ? [.workersLost] : []))
        #expect(plan.cancelled.allSatisfy { $0.reason.state == .discarded })
    }
}
