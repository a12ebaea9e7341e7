/// How many requests one connection may take: a value without a clock, moved by what the connection reports.
///
///     fresh ──admit──▶ opening ──connected or answered──▶ open ──quiet for a while──▶ fresh
///       ▲                 │ ended without proof
///       └─────────────────┘
///     any ──broken, retired, too old, used up, idle for too long──▶ draining   (final)
struct ConnectionGate {
    typealias Instant = ContinuousClock.Instant

    enum State: Equatable {
        /// Nothing is in flight and nothing is known: takes one request.
        case fresh
        /// The first request is under way: takes none.
        case opening
        /// Takes requests up to the window.
        case open
        /// Takes none and ends with the last one in flight.
        case draining
    }

    struct Limits {
        var window: Int
        var probes: Bool
        var reprobeAfter: Duration
        var idleLimit: Duration
        var lifetime: Duration
        var requestsPerConnection: Int?
    }

    private(set) var state = State.fresh
    /// Admitted and not yet ended, wherever they are between the queue and the wire.
    private(set) var inFlight = 0
    /// Whether the window was ever open, so that a failure now is not one of connecting.
    private(set) var wasOpen = false
    private(set) var isConnected = false
    private var admitted = 0
    private let created: Instant
    private var quietSince: Instant
    private let limits: Limits

    init(limits: Limits, now: Instant) {
        self.limits = limits
        self.created = now
        self.quietSince = now
    }

    /// How many requests can be admitted at this moment.
    var room: Int {
        switch self.state {
        case .fresh: 1
        case .opening, .draining: 0
        case .open: max(0, self.capacity)
        }
    }

    /// How many it can take once its window is open.
    var prospect: Int {
        self.state == .draining ? 0 : max(0, self.capacity)
    }

    private var capacity: Int {
        let free = self.limits.window - self.inFlight
        guard let most = self.limits.requestsPerConnection else { return free }
        return min(free, most - self.admitted)
    }

    /// Whether the connection has nothing left to do and must go.
    var isFinished: Bool { self.state == .draining && self.inFlight == 0 }

    /// When time alone will change something, if nothing else happens.
    var nextChange: Instant? {
        guard self.state != .draining else { return nil }
        let oldAge = self.created + self.limits.lifetime
        return self.inFlight > 0 ? oldAge : min(oldAge, self.quietSince + self.limits.idleLimit)
    }

    mutating func admit(_ count: Int) {
        precondition(count <= self.room)
        if self.state == .fresh { self.state = .opening }
        self.inFlight += count
        self.admitted += count
        if let most = self.limits.requestsPerConnection, self.admitted >= most { self.retire() }
    }

    mutating func apply(_ report: ConnectionReport, now: Instant) {
        self.inFlight -= report.ended
        if report.isConnected { self.isConnected = true }
        if report.ended > 0, self.inFlight == 0 { self.quietSince = now }
        if self.state == .opening {
            if report.isProven || (report.isConnected && !self.limits.probes) {
                self.state = .open
                self.wasOpen = true
            } else if self.inFlight == 0 {
                self.state = .fresh
            }
        }
        if report.isBroken { self.retire() }
    }

    /// Lets the passing of time have its effect.
    mutating func refresh(now: Instant) {
        if now - self.created >= self.limits.lifetime { self.retire() }
        guard self.inFlight == 0, self.state != .draining else { return }
        let quiet = now - self.quietSince
        if quiet >= self.limits.idleLimit {
            self.retire()
        } else if self.state == .open, quiet >= self.limits.reprobeAfter {
            self.state = .fresh
        }
    }

    mutating func retire() { self.state = .draining }
}

/// What happened on a connection since its last report.
struct ConnectionReport: Equatable {
    /// Requests that are no longer with the connection.
    var ended = 0
    /// TLS and HTTP/2 stand.
    var isConnected = false
    /// An answer came that an unauthorised connection would not have given.
    var isProven = false
    /// It must take no more requests; the reason is for those that waited for it.
    var breakage: String?

    var isBroken: Bool { self.breakage != nil }
    var isEmpty: Bool { self == Self() }
}
