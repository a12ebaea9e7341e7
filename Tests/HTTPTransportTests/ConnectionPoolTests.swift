import Testing

@testable internal import HTTPTransport

/// The pool with numbers for requests; the test plays the connections' threads.
struct ConnectionPoolTests {
    private typealias Pool = ConnectionPool<Int>
    private let start = ContinuousClock.now

    private func pool(connections: Int = 2, window: Int = 100, probes: Bool = true, requests: Int? = nil) -> Pool {
        Pool(
            connections: connections,
            limits: .init(
                window: window, probes: probes, reprobeAfter: .seconds(10), idleLimit: .seconds(60),
                lifetime: .seconds(3600), requestsPerConnection: requests
            )
        )
    }

    private static let proof = ConnectionReport(ended: 1, isConnected: true, isProven: true)

    /// A pool with connection 1 open and nothing waiting.
    private func openPool(connections: Int = 2, window: Int = 100) -> Pool {
        var pool = self.pool(connections: connections, window: window)
        _ = pool.enqueue([0], now: self.start)
        _ = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        _ = pool.turn(1, report: Self.proof, returned: [], now: self.start)
        return pool
    }

    @Test func `the first request opens a connection and goes ahead alone`() {
        var pool = self.pool()
        let actions = pool.enqueue(Array(0..<50), now: self.start)
        #expect(actions.open == [1])
        #expect(actions.wake.isEmpty)
        let (first, _) = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        #expect(first.work == [0])
        #expect(first.mayConnect)
        let (second, _) = pool.turn(1, report: Self.proof, returned: [], now: self.start)
        #expect(second.work == Array(1..<50))
        #expect(!second.mayConnect)
    }

    @Test(arguments: [(count: 100, opened: [1]), (101, [1, 2]), (1000, [1, 2])])
    func `a second connection opens when one window cannot hold all`(count: Int, opened: [Int]) {
        var pool = self.pool()
        #expect(pool.enqueue(Array(0..<count), now: self.start).open == opened)
    }

    @Test func `requests go where the most room is`() {
        var pool = self.pool()
        _ = pool.enqueue(Array(0..<102), now: self.start)
        for id in 1...2 {
            _ = pool.turn(id, report: ConnectionReport(), returned: [], now: self.start)
        }
        let (first, _) = pool.turn(1, report: Self.proof, returned: [], now: self.start)
        #expect(first.work.count == 100)
        let (second, _) = pool.turn(2, report: Self.proof, returned: [], now: self.start)
        #expect(second.work.isEmpty)
        let actions = pool.enqueue(Array(0..<60), now: self.start)
        #expect(actions.open.isEmpty)
        #expect(actions.wake == [2])
    }

    @Test func `a connection is woken once until it comes back`() {
        var pool = self.openPool()
        #expect(pool.enqueue([1], now: self.start).wake == [1])
        #expect(pool.enqueue([2], now: self.start).wake.isEmpty)
        #expect(pool.turn(1, report: ConnectionReport(), returned: [], now: self.start).0.work == [1, 2])
        #expect(pool.enqueue([3], now: self.start).wake == [1])
    }

    @Test func `what was not sent goes first to another connection`() {
        var pool = self.openPool(connections: 1)
        _ = pool.enqueue(Array(1..<150), now: self.start)
        let (turn, _) = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        #expect(turn.work == Array(1...100))
        let broken = ConnectionReport(ended: 100, breakage: "connection_lost")
        let (end, actions) = pool.turn(1, report: broken, returned: [7, 8], now: self.start)
        #expect(end.mustEnd)
        #expect(actions.open == [2])
        #expect(actions.failed.isEmpty)
        #expect(pool.turn(2, report: ConnectionReport(), returned: [], now: self.start).0.work == [7])
        #expect(pool.turn(2, report: Self.proof, returned: [], now: self.start).0.work == [8] + Array(101..<150))
    }

    @Test func `when no connection can be made all that waits fails`() {
        var pool = self.pool()
        _ = pool.enqueue(Array(0..<50), now: self.start)
        _ = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        let (turn, actions) = pool.turn(
            1, report: ConnectionReport(ended: 1, breakage: "connect_failed"), returned: [], now: self.start
        )
        #expect(turn.mustEnd)
        #expect(actions.failed == Array(1..<50))
        #expect(actions.failure == "connect_failed")
        #expect(pool.isEmpty)
        // The next request is a new attempt.
        #expect(pool.enqueue([1], now: self.start).open == [2])
    }

    @Test func `while others serve a failed attempt only delays the next`() {
        var pool = self.openPool()
        _ = pool.enqueue(Array(0..<300), now: self.start)
        _ = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        let broken = ConnectionReport(ended: 1, breakage: "connect_failed")
        _ = pool.turn(2, report: ConnectionReport(), returned: [], now: self.start)
        let (_, actions) = pool.turn(2, report: broken, returned: [], now: self.start)
        #expect(actions.failed.isEmpty)
        #expect(actions.open.isEmpty)
        let (turn, _) = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        #expect(turn.wakeAt == self.start + .seconds(1))
        let later = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start + .seconds(1)).1
        #expect(later.open == [3])
        // A time in the past would make the thread turn in circles.
        let (last, _) = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start + .seconds(2))
        #expect(last.wakeAt == self.start + .seconds(3600))
    }

    @Test func `the delay ends with the last one that serves`() {
        var pool = self.openPool()
        _ = pool.enqueue(Array(0..<300), now: self.start)
        _ = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        _ = pool.turn(2, report: ConnectionReport(), returned: [], now: self.start)
        _ = pool.turn(
            2, report: ConnectionReport(ended: 1, breakage: "connect_failed"), returned: [], now: self.start
        )
        let (_, actions) = pool.turn(
            1, report: ConnectionReport(ended: 100, breakage: "connection_lost"), returned: [], now: self.start
        )
        #expect(actions.open.first == 3)
    }

    @Test func `renewal drains what is there and opens for what comes`() {
        var pool = self.openPool(connections: 1)
        _ = pool.enqueue(Array(0..<10), now: self.start)
        _ = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        #expect(pool.renew(now: self.start).wake == [1])
        #expect(pool.enqueue([99], now: self.start).open == [2])
        #expect(!pool.turn(1, report: ConnectionReport(ended: 9), returned: [], now: self.start).0.mustEnd)
        #expect(pool.turn(1, report: ConnectionReport(ended: 1), returned: [], now: self.start).0.mustEnd)
    }

    @Test func `a later credential fails what waits with an earlier one, and shares no connection with it`() {
        var pool = self.pool(connections: 1, window: 10)
        // The first goes ahead as a probe, the others wait.
        #expect(pool.enqueue(Array(0..<5), credential: 1, now: self.start).open == [1])
        let actions = pool.enqueue([10, 11], credential: 2, now: self.start)
        #expect(actions.failed == [1, 2, 3, 4])
        #expect(actions.failure == "credential_superseded")
        #expect(actions.open == [2])
        // Late, and known to be.
        #expect(pool.enqueue([5], credential: 1, now: self.start).failed == [5])
        // The probe comes back unsent: its credential is not for the new connection either.
        let (turn, late) = pool.turn(1, report: ConnectionReport(ended: 1), returned: [0], now: self.start)
        #expect(turn.mustEnd)
        #expect(late.failed == [0])
        #expect(late.failure == "credential_superseded")
        #expect(pool.use(credential: 2, now: self.start).failed.isEmpty)
        #expect(pool.queued == 1)
    }

    @Test func `renewing in a loop does not open connections without end`() {
        var pool = self.pool(connections: 1)
        var opened = 0
        for number in 0..<100 {
            opened += pool.enqueue([number], now: self.start).open.count
            _ = pool.renew(now: self.start)
        }
        #expect(opened == 8)
        #expect(pool.queued == 92)
        // One that ends makes room for the next.
        _ = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        let (turn, actions) = pool.turn(1, report: ConnectionReport(ended: 1), returned: [], now: self.start)
        #expect(turn.mustEnd)
        #expect(actions.open == [9])
    }

    @Test func `an idle connection is told when to go`() {
        var pool = self.openPool()
        let (turn, _) = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        #expect(turn.wakeAt == self.start + .seconds(60))
        #expect(pool.turn(1, report: ConnectionReport(), returned: [], now: self.start + .seconds(60)).0.mustEnd)
        #expect(pool.isEmpty)
    }

    @Test func `closing fails what waits and sets a time for the rest`() {
        var pool = self.openPool(connections: 1, window: 10)
        _ = pool.enqueue(Array(0..<30), now: self.start)
        _ = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        let deadline = self.start + .seconds(5)
        let actions = pool.close(deadline: deadline)
        #expect(actions.failed == Array(10..<30))
        #expect(actions.failure == "shut_down")
        #expect(actions.wake == [1])
        #expect(pool.enqueue([1], now: self.start).failed == [1])
        let (turn, _) = pool.turn(1, report: ConnectionReport(), returned: [], now: self.start)
        #expect(turn.wakeAt == deadline)
        #expect(!turn.mustAbort)
        #expect(pool.turn(1, report: ConnectionReport(), returned: [], now: deadline).0.mustAbort)
        let (end, rest) = pool.turn(1, report: ConnectionReport(ended: 10), returned: [3], now: deadline)
        #expect(end.mustEnd)
        #expect(rest.failed == [3])
        #expect(pool.isEmpty)
    }

    @Test func `dropped requests leave the queue and nothing else`() {
        var pool = self.openPool(connections: 1, window: 10)
        _ = pool.enqueue(Array(0..<30), now: self.start)
        #expect(pool.drop { $0 % 2 == 0 } == [10, 12, 14, 16, 18, 20, 22, 24, 26, 28])
        #expect(pool.queued == 10)
        #expect(pool.inFlight == 10)
    }
}
