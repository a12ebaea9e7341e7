import PushModel

import struct FoundationEssentials.Date

/// What a row and its account say about a push, apart from devices: the rules that hold when a notification is
/// planned and hold again before every send.
enum Verdict: Equatable {
    case wanted(Notification, NotificationKind, expiresAt: Date)
    case unwanted(FanoutDecision, DeliveryReason)

    init(_ facts: NotificationFacts, now: Date, expiresAt: (Notification, NotificationKind) -> Date) {
        guard let notification = facts.notification, let account = facts.account else {
            self = .unwanted(.gone, .gone)
            return
        }
        guard let kind = NotificationKind(named: notification.kindName) else {
            self = .unwanted(.unknownKind, .unknownKind)
            return
        }
        let end = expiresAt(notification, kind)
        if end <= now {
            self = .unwanted(.tooOld, .expired)
        } else if notification.ignoredAt != nil {
            self = .unwanted(.ignored, .ignored)
        } else if notification.readAt != nil {
            self = .unwanted(.alreadyRead, .alreadyRead)
        } else if !account.wants(kind) {
            self = .unwanted(.switchedOff, .switchedOff)
        } else {
            self = .wanted(notification, kind, expiresAt: end)
        }
    }
}
