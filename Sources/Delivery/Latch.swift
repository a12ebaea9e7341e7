import Locking

/// Calls back once, when it was counted down to nothing.
struct Latch: Sendable {
    private let remaining: Locked<Int>
    private let opened: @Sendable () -> Void

    init(count: Int, opened: @escaping @Sendable () -> Void) {
        self.remaining = Locked(count)
        self.opened = opened
    }

    func countDown() {
        let isLast = self.remaining.withLock { remaining in
            remaining -= 1
            return remaining == 0
        }
        if isLast { self.opened() }
    }
}
