internal import Delivery
internal import Locking
internal import TestSupport
internal import Testing

@Suite struct InFlightWindowTests {
    @Test func `permits are given up to what is free, and come back`() async {
        let window = InFlightWindow(capacity: 10)
        #expect(await window.take(upTo: 4) == 4)
        #expect(await window.take(upTo: 100) == 6)
        #expect(window.inUse == 10)
        window.give(back: 10)
        #expect(window.inUse == 0)
        #expect(InFlightWindow(capacity: 0).capacity == 1)
    }

    /// A waiter that waits for sure: its task is in the window's list.
    private static func waiter(
        _ window: InFlightWindow, upTo most: Int, order: Locked<[Int]>, number: Int
    ) async throws -> Task<Int, Never> {
        let before = window.waiting
        let task = Task {
            let granted = await window.take(upTo: most)
            order.withLock { $0.append(number) }
            return granted
        }
        try await eventually(every: .milliseconds(1)) { window.waiting == before + 1 }
        return task
    }

    @Test func `who came first is served first, also when a later one would be content with less`() async throws {
        let window = InFlightWindow(capacity: 4)
        #expect(await window.take(upTo: 4) == 4)
        let order = Locked<[Int]>([])
        let first = try await Self.waiter(window, upTo: 3, order: order, number: 1)
        let second = try await Self.waiter(window, upTo: 1, order: order, number: 2)
        let third = try await Self.waiter(window, upTo: 4, order: order, number: 3)
        window.give(back: 1)
        #expect(await first.value == 1)
        window.give(back: 3)
        #expect(await second.value == 1)
        #expect(await third.value == 2)
        #expect(order.withLock { $0 }.first == 1)
        #expect(window.inUse == 4)
    }

    @Test func `nobody overtakes those who wait`() async throws {
        let window = InFlightWindow(capacity: 1)
        #expect(await window.take(upTo: 1) == 1)
        let waiting = try await Self.waiter(window, upTo: 1, order: Locked([]), number: 1)
        #expect(await window.take(upTo: 1, within: .milliseconds(20)) == nil)
        window.give(back: 1)
        #expect(await waiting.value == 1)
    }

    @Test func `a cancelled waiter gets nothing and takes nothing from others`() async throws {
        let window = InFlightWindow(capacity: 1)
        #expect(await window.take(upTo: 1) == 1)
        let cancelled = try await Self.waiter(window, upTo: 1, order: Locked([]), number: 1)
        let other = try await Self.waiter(window, upTo: 1, order: Locked([]), number: 2)
        cancelled.cancel()
        #expect(await cancelled.value == 0)
        window.give(back: 1)
        #expect(await other.value == 1)
        let before = Task {
            // Cancelled before it asks.
            try? await Task.sleep(for: .seconds(60))
            return await window.take(upTo: 1)
        }
        before.cancel()
        #expect(await before.value == 0)
    }

    @Test func `cancelled under a limit is 0, not "no answers"`() async throws {
        let window = InFlightWindow(capacity: 1)
        #expect(await window.take(upTo: 1) == 1)
        let task = Task { await window.take(upTo: 1, within: .seconds(60)) }
        try await eventually(every: .milliseconds(1)) { window.waiting == 1 }
        task.cancel()
        #expect(await task.value == 0)
        #expect(window.waiting == 0)
    }

    @Test func `a closed window gives 0 to all, at once`() async throws {
        let window = InFlightWindow(capacity: 1)
        #expect(await window.take(upTo: 1) == 1)
        let waiting = try await Self.waiter(window, upTo: 1, order: Locked([]), number: 1)
        let limited = Task { await window.take(upTo: 1, within: .seconds(60)) }
        try await eventually(every: .milliseconds(1)) { window.waiting == 2 }
        window.close()
        #expect(await waiting.value == 0)
        #expect(await limited.value == 0)
        window.give(back: 1)
        #expect(await window.take(upTo: 1) == 0)
        #expect(await window.take(upTo: 1, within: .seconds(60)) == 0)
        #expect(window.inUse == 0)
    }

    /// Limits that pass just as permits come free, tasks cancelled at any moment: at the end every permit is back.
    @Test func `no race loses or makes a permit`() async {
        let capacity = 7
        let window = InFlightWindow(capacity: capacity)
        let most = Locked(0)
        let out = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    var generator = SystemRandomNumberGenerator()
                    for round in 0..<150 {
                        let task = Task {
                            round % 3 == 0
                                ? await window.take(upTo: 1 + number % 5)
                                : await window.take(upTo: 1 + number % 5, within: .microseconds(round * 2)) ?? 0
                        }
                        if round % 5 == 0 {
                            try? await Task.sleep(for: .microseconds(Int.random(in: 0...200, using: &generator)))
                            task.cancel()
                        }
                        let granted = await task.value
                        guard granted > 0 else { continue }
                        let now = out.withLock { out in
                            out += granted
                            return out
                        }
                        most.withLock { $0 = max($0, now) }
                        if round % 2 == 0 { await Task.yield() }
                        out.withLock { $0 -= granted }
                        window.give(back: granted)
                    }
                }
            }
        }
        #expect(window.inUse == 0)
        #expect(window.waiting == 0)
        #expect(out.withLock { $0 } == 0)
        #expect((1...capacity).contains(most.withLock { $0 }))
    }
}
