import DeliveryQueue
import Observability
import Postgres
import PushModel
import Testing

import struct FoundationEssentials.Date

@testable import Delivery

private typealias Dependency = WorkerStatus.Dependency

@Suite struct WorkerStatusTests {
    private static let start = Date(timeIntervalSince1970: 1_790_000_000)
    private static let now = Self.start.addingTimeInterval(3600)

    private static func ago(_ seconds: Double) -> Date { Self.now.addingTimeInterval(-seconds) }

    /// A worker that has nothing to complain of.
    private static func well() -> HealthFacts {
        var facts = HealthFacts(startedAt: Self.start, largestBacklog: 1000)
        facts.databaseSeen = Self.ago(1)
        facts.listening = .connected
        facts.outboxSeen = Self.ago(5)
        facts.outboxAges = [.interactive: .milliseconds(20), .bulk: .seconds(900)]
        facts.endpoints = [.apnsProduction: .init(lastAccepted: Self.ago(3)), .fcm: .init()]
        facts.upkeepIdle = .seconds(2)
        return facts
    }

    private struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var dependency: Dependency.Name
        var state: Dependency.State
        /// Part of the reason or the fix.
        var says: String
        var change: @Sendable (inout HealthFacts) -> Void

        init(
            _ words: String, _ dependency: Dependency.Name, _ state: Dependency.State, _ says: String,
            _ change: @escaping @Sendable (inout HealthFacts) -> Void
        ) {
            self.testDescription = words
            self.dependency = dependency
            self.state = state
            self.says = says
            self.change = change
        }
    }

    @Test func `a worker with nothing to complain of is ready, and names each dependency`() {
        let status = WorkerStatus(Self.well(), now: Self.now)
        #expect(status.isReady)
        #expect(status.isAlive)
        #expect(
            status.dependencies.map(\.name.text) == [
                "database", "schema", "listener", "outbox", "recorder", "apns:production", "fcm",
            ])
        #expect(status.dependencies.allSatisfy { $0.state == .ok && $0.fix == nil })
    }

    private static let apns = Dependency.Name.endpoint(.apnsProduction)

    private static func pause(
        _ cause: PauseCause, since: Double, end: Double = -30, isResumed: Bool = false, by name: String? = nil
    ) -> HealthFacts.Endpoint {
        HealthFacts.Endpoint(
            pause: HealthFacts.Pause(
                PauseNote(cause: cause, reason: "InvalidProviderToken", fix: "check APNS_KEY", by: name),
                since: Self.ago(since), end: Self.ago(end), isResumed: isResumed))
    }

    private static func failing(_ count: Int, first: Double, last: Double) -> HealthFacts.Endpoint {
        HealthFacts.Endpoint(
            failures: HealthFacts.FailureRun(
                first: Self.ago(first), last: Self.ago(last), count: count, reason: "connect_failed"))
    }

    private static let cases: [Case] = [
        Case("never answered", .database, .failed, "DATABASE_URL") { $0.databaseSeen = nil },
        Case("away for a moment", .database, .degraded, "refused") { $0.database = .init(since: ago(3), "refused") },
        Case("away for long", .database, .failed, "nothing is lost") { $0.database = .init(since: ago(60), "refused") },
        Case("no such table", .schema, .failed, "push-fanout migrate") {
            $0.schema = .init(since: ago(1), "relation push.outbox does not exist")
        },
        Case("behind a pooler", .listener, .ok, "pooler") { $0.listening = .unavailable },
        Case("LISTEN lost", .listener, .degraded, "lost") { $0.listening = .lost },
        Case("an interactive one waits", .outbox, .degraded, "interactive has waited 61 s") {
            $0.outboxAges[.interactive] = .seconds(61)
        },
        Case("a normal one waits too long", .outbox, .failed, "start another worker") {
            $0.outboxAges[.normal] = .seconds(301)
        },
        Case("a bulk one may wait", .outbox, .ok, "no longer than it should") { $0.outboxAges[.bulk] = .seconds(3599) },
        Case("a bulk one waits too long", .outbox, .degraded, "bulk") { $0.outboxAges[.bulk] = .seconds(3601) },
        Case("nobody looks", .outbox, .degraded, "lately") { $0.outboxSeen = ago(100) },
        Case("the recorder is behind", .recorder, .degraded, "claims are held back") { $0.backlog = 1000 },
        Case("a flush is tried again", .recorder, .degraded, "do not kill") {
            $0.recording = .init(since: ago(2), "disk full")
        },
        Case("nothing can be recorded", .recorder, .failed, "disk full") {
            $0.recording = .init(since: ago(20), "disk full")
        },
        Case("never used", apns, .ok, "not used yet") { $0.endpoints[.apnsProduction] = .init() },
        Case("a wrong key", apns, .failed, "check APNS_KEY") {
            $0.endpoints[.apnsProduction] = pause(.configuration, since: 1)
        },
        Case("a wrong key, between two probes", apns, .failed, "InvalidProviderToken") {
            $0.endpoints[.apnsProduction] = pause(.configuration, since: 300, end: 2)
        },
        Case("a key that was read anew", apns, .ok, "nothing was accepted since") {
            $0.endpoints[.apnsProduction] = pause(.configuration, since: 300, end: 2, isResumed: true)
        },
        Case("a fault from long ago", apns, .ok, "not tried since") {
            $0.endpoints[.apnsProduction] = pause(.configuration, since: 3000, end: 1300)
        },
        Case("an operator's pause", apns, .degraded, "paused by mira") {
            $0.endpoints[.apnsProduction] = pause(.operator, since: 3000, by: "mira")
        },
        Case("Retry-After", apns, .degraded, "by itself") {
            $0.endpoints[.apnsProduction] = pause(.retryAfter, since: 600)
        },
        Case("an outage that has begun", apns, .degraded, "not reached") {
            $0.endpoints[.apnsProduction] = pause(.outage, since: 15)
        },
        Case("an outage", apns, .failed, "not reached") { $0.endpoints[.apnsProduction] = pause(.outage, since: 21) },
        Case("an accident", apns, .ok, "the last try failed: connect_failed") {
            $0.endpoints[.apnsProduction] = failing(2, first: 100, last: 10)
        },
        Case("no accident any more", apns, .degraded, "3 tries in a row failed") {
            $0.endpoints[.apnsProduction] = failing(3, first: 10, last: 1)
        },
        Case("failures of a single delivery", apns, .failed, "connect_failed") {
            $0.endpoints[.apnsProduction] = failing(4, first: 30, last: 1)
        },
        Case("failures from long ago", apns, .degraded, "connect_failed") {
            $0.endpoints[.apnsProduction] = failing(9, first: 3000, last: 1300)
        },
    ]

    @Test(arguments: cases)
    private func `each dependency says what is the matter and what to do`(_ sample: Case) throws {
        var facts = Self.well()
        sample.change(&facts)
        let status = WorkerStatus(facts, now: Self.now)
        let found = try #require(status.dependencies.first { $0.name == sample.dependency })
        #expect(found.state == sample.state)
        #expect("\(found.reason); \(found.fix ?? "")".contains(sample.says), "\(found)")
        #expect(found.since <= Self.now)
        #expect(status.isReady == (sample.state != .failed))
        // None of them would be mended by a restart.
        #expect(status.isAlive)
        for other in status.dependencies where other.name != sample.dependency && other.name != .schema {
            #expect(other.state == .ok, "\(other)")
        }
    }

    @Test func `a loop that stands still is told, unless it waits for the database`() {
        var facts = Self.well()
        facts.upkeepIdle = .seconds(91)
        #expect(WorkerStatus(facts, now: Self.now).stuck?.contains("upkeep loop") == true)
        facts = Self.well()
        facts.claimsIdle = .seconds(179)
        #expect(WorkerStatus(facts, now: Self.now).isAlive)
        facts.claimsIdle = .seconds(181)
        #expect(WorkerStatus(facts, now: Self.now).stuck?.contains("claim loop") == true)
        facts.database = .init(since: Self.ago(200), "refused")
        #expect(WorkerStatus(facts, now: Self.now).isAlive)
        facts.database = nil
        facts.backlog = 1000
        #expect(WorkerStatus(facts, now: Self.now).isAlive)
    }
}

@Suite struct WorkerHealthTests {
    private static let start = Date(timeIntervalSince1970: 1_790_000_000)

    private static func health() -> WorkerHealth {
        WorkerHealth(endpoints: [.apnsProduction, .fcm], largestBacklog: 1000, recorder: Recorder())
    }

    private static func failure() -> SendResult {
        SendResult(
            index: 0, outcome: .retry(.init(reason: "connect_failed", scope: .host, countsAsAttempt: false)),
            status: nil, duration: nil)
    }

    private static func state(
        _ health: WorkerHealth, _ name: WorkerStatus.Dependency.Name, _ pauses: EndpointPauses = EndpointPauses(),
        at seconds: Double
    ) -> WorkerStatus.Dependency? {
        health.status(pauses, now: Self.start.addingTimeInterval(seconds)).dependencies.first { $0.name == name }
    }

    /// Case A28: the provider refuses connections; with little traffic no breaker opens.
    @Test func `a provider that refuses connections turns readiness red within a minute, and an answer turns it back`()
    {
        let health = Self.health()
        // As the back-off of a single delivery has it, at its slowest.
        for seconds in [0.0, 6, 17, 38] {
            health.note([Self.failure()], at: .apnsProduction, now: Self.start.addingTimeInterval(seconds))
        }
        let failed = Self.state(health, .endpoint(.apnsProduction), at: 59)
        #expect(failed?.state == .failed)
        #expect(failed?.since == Self.start)
        #expect(Self.state(health, .endpoint(.fcm), at: 59)?.state == .ok)
        // Any answer of the provider will do.
        let answer = SendResult(
            index: 0, outcome: .deviceDead(reason: "Unregistered", since: nil), status: 410, duration: nil)
        health.note([answer], at: .apnsProduction, now: Self.start.addingTimeInterval(61))
        #expect(Self.state(health, .endpoint(.apnsProduction), at: 62)?.state == .ok)
    }

    @Test func `a failing statement of one kind is not hidden by the success of another`() {
        let health = Self.health()
        health.note(.heartbeat, nil)
        #expect(Self.state(health, .database, at: 0)?.state == .ok)
        health.note(.claim, Unreachable())
        health.note(.heartbeat, nil)
        let later = Date().timeIntervalSince(Self.start) + 60
        #expect(Self.state(health, .database, at: later)?.state == .failed)
        health.note(.claim, nil)
        #expect(Self.state(health, .database, at: later)?.state == .ok)
        // A read that is tried no more says nothing of now.
        health.note(.facts, Unreachable())
        health.note(.record, CancellationError())
        #expect(Self.state(health, .database, at: later)?.state == .ok)
        #expect(Self.state(health, .recorder, at: later)?.state == .ok)
        health.note(.record, Unreachable())
        #expect(Self.state(health, .recorder, at: later)?.state == .failed)
    }

    @Test func `what changed is told once, and since stays what it was`() {
        let health = Self.health()
        let pauses = EndpointPauses()
        health.note(.heartbeat, nil)
        _ = health.judge(pauses)
        #expect(health.judge(pauses).changes.isEmpty)
        pauses.pause(
            .fcm, for: .seconds(60), PauseNote(cause: .configuration, reason: "PERMISSION_DENIED", fix: "look"))
        let changes = health.judge(pauses).changes
        #expect(changes.map(\.now.name) == [.endpoint(.fcm)])
        #expect(changes.first?.before == .ok)
        #expect(changes.first?.now.fix == "look")
        // Who only asks takes no change away from who logs it.
        pauses.pause(.apnsProduction, for: .seconds(60), PauseNote(cause: .operator, reason: "rest", by: "mira"))
        _ = health.status(pauses)
        #expect(health.judge(pauses).changes.map(\.now.name) == [.endpoint(.apnsProduction)])
        let since = Self.state(health, .endpoint(.fcm), pauses, at: 1e9)?.since
        #expect(health.judge(pauses).changes.map(\.now.name).contains(.endpoint(.fcm)) == false)
        #expect(Self.state(health, .endpoint(.fcm), pauses, at: 1e9)?.since == since)
    }

    private struct Unreachable: Error {}
}

@Suite struct PauseNoteTests {
    @Test(
        arguments: [
            (nil, nil, PauseCause.retryAfter), ("3f1c1a3e-8a0f-4f6e-9b61-1f7c3c8f0a11", nil, .retryAfter),
            ("3f1c1a3e-8a0f-4f6e-9b61-1f7c3c8f0a11", "check APNS_KEY", .configuration),
            (nil, "check APNS_KEY", .configuration),
            (nil, EndpointBreaker.fixForOutage, .outage), ("mira", "push-fanout queue resume ends it", .operator),
            ("mira", nil, .operator),
        ] as [(String?, String?, PauseCause)])
    func `what a pause is follows from who wrote it and its fix`(_ name: String?, _ fix: String?, _ cause: PauseCause) {
        let note = PauseNote(reason: "any", fix: fix, by: name)
        #expect(note.cause == cause)
        #expect(note.by == (cause == .operator ? name : nil))
    }

    @Test func `a rest that follows a rest for the same reason is no news, another reason is`() {
        let pauses = EndpointPauses()
        #expect(pauses.pause(.fcm, for: .seconds(1), .noAnswers))
        #expect(!pauses.pause(.fcm, for: .seconds(2), .noAnswers))
        let fault = PauseNote(cause: .configuration, reason: "PERMISSION_DENIED", fix: "look")
        #expect(pauses.pause(.fcm, for: .seconds(60), fault))
        // The longer one is what keeps it paused.
        #expect(!pauses.pause(.fcm, for: .seconds(1), .noAnswers))
        #expect(pauses.all[.fcm]?.note == fault)
    }

    @Test func `what others wrote is taken over, and a resumed one waits for its proof`() {
        let pauses = EndpointPauses()
        let pause = LeaseKeeping.Heartbeat.Pause(
            remaining: .seconds(60), resumes: 0, reason: "maintenance", fix: "resume", by: "mira")
        #expect(pauses.adopt([.fcm: pause]).map(\.value.by) == ["mira"])
        #expect(pauses.adopt([.fcm: pause]).isEmpty)
        #expect(pauses.adopt([.fcm: .init(remaining: nil, resumes: 1)]).isEmpty)
        #expect(pauses.all[.fcm]?.isResumed == true)
        #expect(pauses.proven(.fcm)?.note.by == "mira")
        #expect(pauses.all.isEmpty)
    }
}

@Suite struct LogLimiterTests {
    @Test func `a fault is written once a minute with how many there were, and anew once it was over`() {
        let limiter = LogLimiter()
        let start = ContinuousClock.now
        #expect(limiter.mayWrite("a", now: start) == 0)
        for second in 1..<60 { #expect(limiter.mayWrite("a", now: start + .seconds(second)) == nil) }
        #expect(limiter.mayWrite("b", now: start) == 0)
        #expect(limiter.mayWrite("a", now: start + .seconds(60)) == 59)
        #expect(limiter.mayWrite("a", now: start + .seconds(61)) == nil)
        limiter.over("a")
        #expect(limiter.mayWrite("a", now: start + .seconds(62)) == 0)
    }

    @Test func `faults without number share what is left`() {
        let limiter = LogLimiter()
        let start = ContinuousClock.now
        #expect((0..<10_000).count { limiter.mayWrite("fault \($0)", now: start) != nil } == 101)
    }
}
