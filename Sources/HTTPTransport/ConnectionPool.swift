/// Which request goes to which connection and when connections open and go: a value without threads or a clock.
///
/// The shell takes its lock, calls one of these methods, leaves the lock and carries out the actions.
struct ConnectionPool<Item> {
    typealias Instant = ContinuousClock.Instant
    typealias ConnectionID = Int

    struct Actions {
        var open: [ConnectionID] = []
        var wake: [ConnectionID] = []
        var failed: [Item] = []
        /// Why `failed` failed; none of those was ever sent.
        var failure: String?
    }

    /// What a connection's thread has to do next.
    struct Turn {
        var work: [Item] = []
        /// The work goes out on a connection of which nothing is known: libcurl may open a new one for it.
        var mayConnect = false
        /// Nothing is left to do: the thread ends.
        var mustEnd = false
        /// The time for finishing is over: everything in flight fails.
        var mustAbort = false
        /// The thread asks again at this time at the latest.
        var wakeAt: Instant?
    }

    private struct Member {
        var gate: ConnectionGate
        /// The only one it ever sees.
        let credential: Int
        var inbox: [Item] = []
        var mayConnect = false
        /// Woken and not yet back.
        var isWoken = false
    }

    /// Enough to keep the threads of a connection busy together, small enough to spread a batch.
    private static var portion: Int { 32 }
    /// After a connection that never stood, the next attempt waits while others still serve.
    private static var pause: Duration { .seconds(1) }

    private let limits: ConnectionGate.Limits
    private let mostConnections: Int
    private var members: [ConnectionID: Member] = [:]
    private var queue = FirstInFirstOut<Item>()
    /// Taken out of a connection that could not send them; they go first.
    private var returned: [Item] = []
    private var lastID = 0
    /// What all that waits carries.
    private var credential = 0
    private var noneBefore: Instant?
    /// Set once by `close`: nothing more is taken, and what is in flight fails at this time.
    private var deadline: Instant?

    init(connections: Int, limits: ConnectionGate.Limits) {
        self.mostConnections = connections
        self.limits = limits
    }

    var isEmpty: Bool { self.members.isEmpty }
    var queued: Int { self.queue.count + self.returned.count }
    var inFlight: Int { self.members.values.reduce(0) { $0 + $1.gate.inFlight } }
    var connected: Int { self.members.values.count { $0.gate.isConnected } }

    // MARK: - Events

    mutating func enqueue(_ items: [Item], credential: Int = 0, now: Instant) -> Actions {
        guard self.deadline == nil else { return Actions(failed: items, failure: "shut_down") }
        guard credential >= self.credential else { return Self.superseded(items) }
        var actions = self.use(credential: credential, now: now)
        self.queue.append(contentsOf: items)
        self.assign(now: now, &actions)
        return actions
    }

    /// Fails what waits with an earlier credential, and leaves the connections that have seen one.
    mutating func use(credential: Int, now: Instant) -> Actions {
        guard credential > self.credential else { return Actions() }
        self.credential = credential
        var actions = Self.superseded(self.drainQueue())
        let renewal = self.renew(now: now)
        actions.wake = renewal.wake
        return actions
    }

    private static func superseded(_ items: [Item]) -> Actions {
        Actions(failed: items, failure: HTTPFailure.credentialSuperseded.reason)
    }

    /// A connection reports, gives back what it certainly did not send, and gets what it does next.
    mutating func turn(_ id: ConnectionID, report: ConnectionReport, returned: [Item], now: Instant) -> (Turn, Actions)
    {
        guard var member = self.members[id] else { return (Turn(mustEnd: true), Actions()) }
        var actions = Actions()
        member.isWoken = false
        member.gate.apply(report, now: now)
        member.gate.refresh(now: now)
        let isFinished = member.gate.isFinished
        self.members[id] = isFinished ? nil : member
        if self.deadline == nil, member.credential == self.credential {
            self.returned.append(contentsOf: returned)
        } else if self.deadline == nil {
            actions = Self.superseded(returned)
        } else {
            actions.failed = returned
            actions.failure = "shut_down"
        }
        if let breakage = report.breakage, !member.gate.wasOpen {
            if self.isServing {
                self.noneBefore = now + Self.pause
            } else {
                // The rest of the queue would wait, one try after another, for a host that is not there.
                actions.failed += self.drainQueue()
                actions.failure = breakage
            }
        }
        self.assign(now: now, &actions)
        if isFinished { return (Turn(mustEnd: true), actions) }

        actions.wake.removeAll { $0 == id }
        return (self.takeTurn(id, now: now), actions)
    }

    /// Every connection finishes what it has; others take what comes after.
    mutating func renew(now: Instant) -> Actions {
        var actions = Actions()
        for id in self.members.keys { self.members[id]?.gate.retire() }
        self.noneBefore = nil
        for id in self.members.keys { self.wake(id, &actions) }
        self.assign(now: now, &actions)
        return actions
    }

    /// Takes the waiting requests for which `isDropped` holds out of the queue.
    mutating func drop(where isDropped: (Item) -> Bool) -> [Item] {
        var dropped = self.queue.removeAll(where: isDropped)
        dropped += self.returned.filter(isDropped)
        self.returned.removeAll(where: isDropped)
        return dropped
    }

    /// Fails what waits, takes nothing more, and gives what is in flight until `deadline`. An earlier deadline stands.
    mutating func close(deadline: Instant) -> Actions {
        self.deadline = self.deadline.map { min($0, deadline) } ?? deadline
        var actions = Actions(failed: self.drainQueue(), failure: "shut_down")
        for id in self.members.keys {
            self.members[id]?.gate.retire()
            self.wake(id, &actions)
        }
        return actions
    }

    // MARK: -

    /// Whether there is a connection that works or may soon.
    private var isServing: Bool { self.members.values.contains { $0.gate.state == .open || $0.gate.state == .opening } }

    private mutating func takeTurn(_ id: ConnectionID, now: Instant) -> Turn {
        guard var member = self.members[id] else { return Turn(mustEnd: true) }
        var turn = Turn(work: member.inbox, mayConnect: member.mayConnect, wakeAt: member.gate.nextChange)
        member.inbox = []
        member.mayConnect = false
        member.isWoken = false
        self.members[id] = member
        if let deadline = self.deadline {
            turn.mustAbort = now >= deadline
            turn.wakeAt = deadline
        } else if let noneBefore = self.noneBefore, noneBefore > now, self.queued > 0 {
            turn.wakeAt = turn.wakeAt.map { min($0, noneBefore) } ?? noneBefore
        }
        return turn
    }

    private mutating func drainQueue() -> [Item] {
        defer { self.returned = [] }
        return self.returned + self.queue.removeFirst(self.queue.count)
    }

    private mutating func wake(_ id: ConnectionID, _ actions: inout Actions) {
        guard self.members[id]?.isWoken == false else { return }
        self.members[id]?.isWoken = true
        actions.wake.append(id)
    }

    /// Gives the queue to the connections with the most room, and opens others when they cannot hold it.
    private mutating func assign(now: Instant, _ actions: inout Actions) {
        for id in self.members.keys { self.members[id]?.gate.refresh(now: now) }
        guard self.deadline == nil else { return }
        while self.queued > 0 {
            // The older of two that are equal, so that one of them can grow quiet and go.
            let roomiest = self.members.max { ($0.value.gate.room, -$0.key) < ($1.value.gate.room, -$1.key) }
            if let (id, member) = roomiest, member.gate.room > 0 {
                self.hand(min(member.gate.room, Self.portion), to: id, &actions)
            } else if self.shouldOpen(now: now) {
                self.lastID += 1
                self.members[self.lastID] = Member(
                    gate: ConnectionGate(limits: self.limits, now: now), credential: self.credential, isWoken: true)
                actions.open.append(self.lastID)
            } else {
                return
            }
        }
    }

    private mutating func hand(_ count: Int, to id: ConnectionID, _ actions: inout Actions) {
        let first = min(count, self.returned.count)
        let items = Array(self.returned.prefix(first)) + self.queue.removeFirst(count - first)
        self.returned.removeFirst(first)
        if self.members[id]?.gate.state == .fresh { self.members[id]?.mayConnect = true }
        self.members[id]?.gate.admit(items.count)
        self.members[id]?.inbox += items
        self.wake(id, &actions)
    }

    private func shouldOpen(now: Instant) -> Bool {
        if let noneBefore = self.noneBefore, now < noneBefore, self.isServing { return false }
        let inUse = self.members.values.filter { $0.gate.state != .draining }
        let prospect = inUse.reduce(0) { $0 + $1.gate.prospect }
        // Those that finish end with their requests' time-outs; the bound is for a caller that renews in a loop.
        return inUse.count < self.mostConnections && self.queued > prospect
            && self.members.count < self.mostConnections * 8
    }
}
