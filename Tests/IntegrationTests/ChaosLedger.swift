import Locking
import PushSimulator

import struct FoundationEssentials.Date

/// What the providers saw, by phone and notification: every send of a delivery, however long ago.
final class ChaosLedger: Sendable {
    struct Send {
        var at: Date
        /// Answered 200, or meant to be, but for a fault that kept the answer back.
        var isAccepted: Bool
    }

    struct Entry {
        /// What the phone goes by. One for all sends of a delivery, or the phone shows it twice.
        var ids: Set<String> = []
        var sends: [Send] = []
        var accepted: Int { self.sends.count { $0.isAccepted } }
    }

    private let entries = Locked<[String: Entry]>([:])

    func note(_ push: ReceivedPush) {
        let id = "\(push.identity ?? "") \(push.headers["apns-collapse-id"] ?? "")"
        let key = push.addressee
        let send = Send(at: push.at, isAccepted: push.status == 200)
        self.entries.withLock { entries in
            entries[key, default: Entry()].ids.insert(id)
            entries[key, default: Entry()].sends.append(send)
        }
    }

    var all: [String: Entry] { self.entries.withLock { $0 } }
}
