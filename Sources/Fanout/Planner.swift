package import FoundationEssentials
package import PushModel

/// The fan-out rules: from the facts of one notification to its plan. Pure.
package struct Planner: Sendable {
    /// A notification that was claimed alone and rescued so often in all is given up.
    package static let mostRescues = 6

    private let lifetime: @Sendable (NotificationKind) -> Duration

    /// `lifetime`: how long after its creation a notification of a kind is still worth a push.
    package init(lifetime: @escaping @Sendable (NotificationKind) -> Duration) {
        self.lifetime = lifetime
    }

    /// Applies the rules in this order: gone, unknown kind, too old, ignored, read, switched off, coalesced, no
    /// devices; what passes all of them is fanned out.
    ///
    /// A notification may come twice, through a rescue, a webhook or a sweep. One decided before keeps its decision;
    /// if that was `fanned_out`, the devices without an end get one now: a send, or a cancellation where the
    /// notification is not wanted any more. It is not coalesced then, for it may be the very one the others were
    /// dropped for.
    package func plan(_ facts: NotificationFacts, now: Date) -> FanoutPlan {
        if let prior = facts.priorDecision, prior != .fannedOut {
            return FanoutPlan(notificationID: facts.notificationID, decision: prior, decisionIsNew: false)
        }
        // A worker may die between its attempts and its decision: what was sent was fanned out.
        let begun = facts.priorDecision == .fannedOut || !facts.settledDeviceIDs.isEmpty
        var plan = FanoutPlan(
            notificationID: facts.notificationID, decision: .fannedOut, decisionIsNew: facts.priorDecision == nil)

        switch Verdict(facts, now: now, expiresAt: { $0.createdAt + self.lifetime($1).inSeconds }) {
        case .unwanted(let decision, let reason):
            if begun {
                plan.cancelled = Self.open(facts).map {
                    CancelledDelivery(id: Self.id(facts, $0), device: $0, reason: reason)
                }
            } else {
                plan.decision = decision
            }
        case .wanted where facts.rescues >= Self.mostRescues:
            // It was claimed alone and took its worker along, again and again: it ends, the others go on.
            plan.cancelled = Self.open(facts).map {
                CancelledDelivery(id: Self.id(facts, $0), device: $0, reason: .workersLost)
            }
        case .wanted(let notification, let kind, _)
        where !begun && kind.coalesces && notification.connectionID != nil && facts.earlierUnreadExists:
            plan.decision = .coalesced
        case .wanted(let notification, let kind, let expiresAt):
            let addresses = Addresses(facts)
            for device in Self.open(facts) {
                let id = Self.id(facts, device)
                switch addresses.token(of: device) {
                case .success(let token):
                    plan.deliveries.append(
                        Delivery(
                            id: id, notification: notification, kind: kind, device: device, token: token,
                            badge: facts.unreadCount, expiresAt: expiresAt))
                case .failure(let refusal):
                    plan.refused.append(RefusedDelivery(id: id, device: device, cause: refusal.cause))
                }
            }
            if plan.deliveries.isEmpty && !begun { plan.decision = .noDevices }
        }
        return plan
    }

    /// The devices whose delivery has no end and waits for none.
    private static func open(_ facts: NotificationFacts) -> [Device] {
        facts.devices.filter { !facts.settledDeviceIDs.contains($0.id) }
    }

    private static func id(_ facts: NotificationFacts, _ device: Device) -> UUID {
        DeliveryID.make(notification: facts.notificationID, device: device.id)
    }
}
