/// The last pushes, and counts of all.
package struct ReceivedStore: Sendable {
    private var pushes: [ReceivedPush] = []
    private let capacity: Int
    private var nextNumber = 1
    /// Pushes since the last ``clear()``, also those that are no longer kept.
    package private(set) var total = 0
    private var byStatus: [Int: Int] = [:]
    private var byReason: [String: Int] = [:]
    private var byProvider: [ReceivedPush.Provider: Int] = [:]
    private var accepted: [String: Int] = [:]
    /// Beyond so many different pushes duplicates are no longer looked for.
    private static let maxIdentities = 2_000_000
    private static let maxReasons = 1000

    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Keeps a push, with the next number, and gives it back.
    package mutating func add(_ push: ReceivedPush) -> ReceivedPush {
        var push = push
        push.number = self.nextNumber
        self.nextNumber += 1
        self.total += 1
        self.byStatus[push.status, default: 0] += 1
        self.byProvider[push.provider, default: 0] += 1
        if let reason = push.reason, self.byReason.count < Self.maxReasons || self.byReason[reason] != nil {
            self.byReason[reason, default: 0] += 1
        }
        if push.status == 200, self.accepted.count < Self.maxIdentities, let identity = push.identity {
            self.accepted[identity, default: 0] += 1
        }
        self.pushes.append(push)
        // Moved seldom, so that dropping costs little each time.
        if self.pushes.count >= self.capacity + max(self.capacity / 4, 1) {
            self.pushes.removeFirst(self.pushes.count - self.capacity)
        }
        return push
    }

    /// The pushes that are kept, oldest first, from those with a number above `since`, at most the last `limit`.
    package func all(since: Int = 0, limit: Int = .max) -> [ReceivedPush] {
        let kept = self.pushes.suffix(self.capacity)
        let from = kept.firstIndex { $0.number > since } ?? kept.endIndex
        return Array(kept[from...].suffix(limit))
    }

    /// Forgets everything; the numbers go on.
    package mutating func clear() {
        let next = self.nextNumber
        self = ReceivedStore(capacity: self.capacity)
        self.nextNumber = next
    }

    package var counts: ReceivedCounts {
        ReceivedCounts(
            received: self.total, accepted: self.byStatus[200] ?? 0, distinct: self.accepted.count,
            duplicates: self.accepted.filter { $0.value > 1 },
            byProvider: Dictionary(uniqueKeysWithValues: self.byProvider.map { ($0.key.rawValue, $0.value) }),
            byStatus: Dictionary(uniqueKeysWithValues: self.byStatus.map { (String($0.key), $0.value) }),
            byReason: self.byReason)
    }
}

/// What `GET /counts` shows. Counts of pushes since the store was last emptied.
package struct ReceivedCounts: Codable, Equatable, Sendable {
    package var received: Int
    /// Answered 200, or meant to be but for a fault that kept the answer back.
    package var accepted: Int
    /// Different pushes among the accepted: see ``ReceivedPush/identity``.
    package var distinct: Int
    /// Those accepted more than once, with how often.
    package var duplicates: [String: Int]
    package var byProvider: [String: Int]
    package var byStatus: [String: Int]
    package var byReason: [String: Int]
}
