import PushModel

package import struct FoundationEssentials.Date

/// How facts are judged. Pure.
extension WorkerStatus {
    /// A database that is away for less is failing over.
    static let databasePatience = 10.0
    /// Failures over so long say that a provider is not reached: well within the minute in which readiness must tell.
    static let outagePatience = 20.0
    /// Fewer failures in a row are accidents.
    static let accidents = 3
    /// What was tried longer ago than this says nothing of now.
    static let memory = 20.0 * 60
    /// The loops' longest steps end by their own limits before these.
    static let longestUpkeepStep = Duration.seconds(90)
    static let longestClaimStep = Duration.seconds(180)
    /// Gauges are read every ten seconds.
    static let freshness = 60.0

    /// - Parameter now: `since` of what is well, or has just come to pass, is this.
    package init(_ facts: HealthFacts, now: Date) {
        var dependencies = [
            Self.database(facts, now), Self.schema(facts, now), Self.listener(facts), Self.outbox(facts, now),
            Self.recorder(facts, now),
        ]
        dependencies += ProviderEndpoint.allCases.compactMap { endpoint in
            facts.endpoints[endpoint].map { Self.endpoint(endpoint, $0, now) }
        }
        self.init(stuck: Self.stuck(facts), dependencies: dependencies)
    }

    // MARK: - The database

    private static func database(_ facts: HealthFacts, _ now: Date) -> Dependency {
        let fix = "check that PostgreSQL runs and DATABASE_URL leads to it; nothing is lost meanwhile"
        if let trouble = facts.database {
            let isLasting = now.timeIntervalSince(trouble.since) >= Self.databasePatience
            return Dependency(
                .database, isLasting || facts.databaseSeen == nil ? .failed : .degraded, since: trouble.since,
                trouble.text, fix: fix)
        }
        guard facts.databaseSeen != nil else {
            return Dependency(.database, .failed, since: facts.startedAt, "has not answered yet", fix: fix)
        }
        return Dependency(.database, .ok, since: now, "answers")
    }

    private static func schema(_ facts: HealthFacts, _ now: Date) -> Dependency {
        if let trouble = facts.schema {
            return Dependency(
                .schema, .failed, since: trouble.since, trouble.text,
                fix: "run push-fanout migrate, and grant push_worker to the worker's role")
        }
        guard facts.databaseSeen != nil else {
            return Dependency(.schema, .degraded, since: facts.startedAt, "not looked at yet: the database is away")
        }
        return Dependency(.schema, .ok, since: now, "as this version needs it")
    }

    private static func listener(_ facts: HealthFacts) -> Dependency {
        let since = facts.listeningSince
        return switch facts.listening {
        case .connected: Dependency(.listener, .ok, since: since, "LISTEN is established")
        case .unavailable:
            Dependency(.listener, .ok, since: since, "polling: the database is behind a transaction pooler")
        case .unknown: Dependency(.listener, .degraded, since: since, "LISTEN is not established yet: polling")
        case .lost:
            Dependency(
                .listener, .degraded, since: since, "LISTEN is lost: polling",
                fix: "it is tried again by itself; if it lasts, look for the cause in the log")
        }
    }

    private static func outbox(_ facts: HealthFacts, _ now: Date) -> Dependency {
        guard let seen = facts.outboxSeen, now.timeIntervalSince(seen) < Self.freshness else {
            return Dependency(.outbox, .degraded, since: facts.outboxSeen ?? facts.startedAt, "not looked at lately")
        }
        var worst = Dependency(.outbox, .ok, since: now, "the oldest waits no longer than it should")
        for lane in Lane.allCases {
            guard let age = facts.outboxAges[lane] else { continue }
            let (late, tooLate) = Self.patience(lane)
            let state: Dependency.State = age >= tooLate ? .failed : age >= late ? .degraded : .ok
            guard state > worst.state else { continue }
            worst = Dependency(
                .outbox, state, since: seen.addingTimeInterval(((state == .failed ? tooLate : late) - age).inSeconds),
                "a notification of the lane \(lane.label) has waited \(age.components.seconds) s for a worker",
                fix: "see whether the other dependencies are well; if they are, start another worker")
        }
        return worst
    }

    /// What is sent to everybody takes its time; what somebody waits for must not.
    private static func patience(_ lane: Lane) -> (Duration, Duration) {
        lane == .bulk ? (.seconds(3600), .seconds(6 * 3600)) : (.seconds(60), .seconds(300))
    }

    private static func recorder(_ facts: HealthFacts, _ now: Date) -> Dependency {
        let fix = "outcomes are kept in memory and tried again; do not kill the worker, see to the database"
        if let trouble = facts.recording {
            let isLasting = now.timeIntervalSince(trouble.since) >= Self.databasePatience
            return Dependency(.recorder, isLasting ? .failed : .degraded, since: trouble.since, trouble.text, fix: fix)
        }
        guard facts.backlog < facts.largestBacklog else {
            return Dependency(
                .recorder, .degraded, since: now, "\(facts.backlog) entries wait to be written: claims are held back",
                fix: "the database is slower than the providers: look at its load")
        }
        return Dependency(.recorder, .ok, since: now, "keeps up")
    }

    // MARK: - Endpoints

    private static func endpoint(
        _ endpoint: ProviderEndpoint, _ facts: HealthFacts.Endpoint, _ now: Date
    ) -> Dependency {
        let name = Dependency.Name.endpoint(endpoint)
        if let pause = facts.pause { return Self.paused(name, pause, facts.failures, now) }
        if let failures = facts.failures { return Self.failing(name, failures, now) }
        guard let accepted = facts.lastAccepted else { return Dependency(name, .ok, since: now, "not used yet") }
        return Dependency(name, .ok, since: accepted, "accepts")
    }

    private static func paused(
        _ name: Dependency.Name, _ pause: HealthFacts.Pause, _ failures: HealthFacts.FailureRun?, _ now: Date
    ) -> Dependency {
        let note = pause.note
        if pause.isResumed {
            return Dependency(
                name, .ok, since: pause.since, "resumed, nothing was accepted since; it was paused: \(note.reason)")
        }
        if now.timeIntervalSince(pause.end) > Self.memory {
            return Dependency(name, .ok, since: pause.since, "not tried since a pause that is over: \(note.reason)")
        }
        switch note.cause {
        case .operator:
            return Dependency(
                name, .degraded, since: pause.since, "paused by \(note.by ?? "an operator"): \(note.reason)",
                fix: note.fix)
        case .retryAfter:
            return Dependency(
                name, .degraded, since: pause.since, "the provider asked to wait: \(note.reason)",
                fix: "it goes on by itself")
        case .configuration:
            return Dependency(name, .failed, since: pause.since, "paused: \(note.reason)", fix: note.fix)
        case .outage:
            let since = min(pause.since, failures?.first ?? pause.since)
            let isLasting = now.timeIntervalSince(since) >= Self.outagePatience
            return Dependency(
                name, isLasting ? .failed : .degraded, since: since, "not reached: \(note.reason)", fix: note.fix)
        }
    }

    /// Too few to open the breaker, as where a single delivery is tried again and again.
    private static func failing(
        _ name: Dependency.Name, _ failures: HealthFacts.FailureRun, _ now: Date
    ) -> Dependency {
        let isRecent = now.timeIntervalSince(failures.last) < Self.memory
        let isLasting = failures.last.timeIntervalSince(failures.first) >= Self.outagePatience
        guard failures.count >= Self.accidents else {
            return Dependency(name, .ok, since: now, "the last try failed: \(failures.reason)")
        }
        return Dependency(
            name, isRecent && isLasting ? .failed : .degraded, since: failures.first,
            "\(failures.count) tries in a row failed: \(failures.reason)", fix: EndpointBreaker.fixForOutage)
    }

    // MARK: - Loops

    private static func stuck(_ facts: HealthFacts) -> String? {
        if let idle = facts.upkeepIdle, idle > Self.longestUpkeepStep {
            return "the upkeep loop has stood still for \(idle.components.seconds) s"
        }
        // Claims wait, as they should, for a database that is away and for records to be written.
        guard facts.database == nil, facts.recording == nil, facts.backlog < facts.largestBacklog else { return nil }
        if let idle = facts.claimsIdle, idle > Self.longestClaimStep {
            return "the claim loop has stood still for \(idle.components.seconds) s"
        }
        return nil
    }
}
