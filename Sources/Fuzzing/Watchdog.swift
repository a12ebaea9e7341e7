import Dispatch
import Glibc
import Locking
import Synchronization

/// Which input a worker has before it. Atomics: the watchdog reads them from its thread, the crash handler in a signal.
package final class WorkerProgress: Sendable {
    private let targetNumber = Atomic<Int>(-1)
    private let inputNumber = Atomic<Int>(-1)
    /// Grows with every input, so that two looks can tell whether there was any progress.
    private let counter = Atomic<Int>(0)
    private let thread = Atomic<UInt>(0)

    package struct Place: Equatable {
        package var target: Int
        package var number: Int
        var count: Int
    }

    package init() {}

    /// Nil between portions.
    package var place: Place? {
        let target = self.targetNumber.load(ordering: .relaxed)
        guard target >= 0 else { return nil }
        return Place(
            target: target, number: self.inputNumber.load(ordering: .relaxed),
            count: self.counter.load(ordering: .relaxed))
    }

    package var isOfThisThread: Bool { self.thread.load(ordering: .relaxed) == pthread_self() }

    /// The worker's own thread says so, before its first input.
    package func startOnThisThread() { self.thread.store(pthread_self(), ordering: .relaxed) }

    package func begin(target: Int) { self.targetNumber.store(target, ordering: .relaxed) }
    package func end() { self.targetNumber.store(-1, ordering: .relaxed) }

    package func note(_ number: Int) {
        self.inputNumber.store(number, ordering: .relaxed)
        self.counter.add(1, ordering: .relaxed)
    }
}

/// Looks from a thread of its own whether the workers get on.
package final class Watchdog {
    private let timer: any DispatchSourceTimer

    /// `onHang` is called when a worker has had the same input before it for `limit` or longer.
    package init(
        _ workers: [WorkerProgress], limit: Duration, onHang: @escaping @Sendable (_ target: Int, _ number: Int) -> Void
    ) {
        let seen = Locked(workers.map { ($0.place, ContinuousClock.now) })
        self.timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "watchdog"))
        self.timer.schedule(deadline: .now(), repeating: .milliseconds(20))
        self.timer.setEventHandler {
            for (index, worker) in workers.enumerated() {
                let place = worker.place
                let isStuck = seen.withLock { seen in
                    if place != seen[index].0 { seen[index] = (place, .now) }
                    return place != nil && seen[index].1.duration(to: .now) >= limit
                }
                if isStuck, let place { return onHang(place.target, place.number) }
            }
        }
        self.timer.resume()
    }

    package func stop() { self.timer.cancel() }
}
