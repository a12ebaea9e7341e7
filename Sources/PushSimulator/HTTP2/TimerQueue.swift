/// Values that become due, earliest first; those due at the same instant in the order in which they came.
struct TimerQueue<Value> {
    private var heap: [(due: ContinuousClock.Instant, number: Int, value: Value)] = []
    private var nextNumber = 0

    var nextDue: ContinuousClock.Instant? { self.heap.first?.due }

    mutating func add(_ value: Value, due: ContinuousClock.Instant) {
        self.heap.append((due, self.nextNumber, value))
        self.nextNumber += 1
        var child = self.heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.isEarlier(child, parent) else { break }
            self.heap.swapAt(child, parent)
            child = parent
        }
    }

    /// The earliest value that is due at `now`, removed; nil when none is.
    mutating func popDue(_ now: ContinuousClock.Instant) -> Value? {
        guard let first = self.heap.first, first.due <= now else { return nil }
        self.heap.swapAt(0, self.heap.count - 1)
        self.heap.removeLast()
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < self.heap.count else { break }
            let right = left + 1
            let child = right < self.heap.count && self.isEarlier(right, left) ? right : left
            guard self.isEarlier(child, parent) else { break }
            self.heap.swapAt(child, parent)
            parent = child
        }
        return first.value
    }

    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        (self.heap[left].due, self.heap[left].number) < (self.heap[right].due, self.heap[right].number)
    }
}
