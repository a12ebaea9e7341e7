package import PushModel

package import struct FoundationEssentials.Date

/// What a worker has seen of the things it depends on: what ``WorkerStatus`` is judged from.
package struct HealthFacts: Sendable {
    /// Something that failed when it was last tried.
    package struct Trouble: Equatable, Sendable {
        package var since: Date
        package var text: String

        package init(since: Date, _ text: String) {
            self.since = since
            self.text = text
        }
    }

    package enum Listening: Equatable, Sendable {
        /// Not tried yet.
        case unknown
        /// Sessions do not last: polling is the way.
        case unavailable
        case connected
        case lost
    }

    /// Failures without an answer between.
    package struct FailureRun: Equatable, Sendable {
        package var first: Date
        package var last: Date
        package var count: Int
        package var reason: String

        package init(first: Date, last: Date, count: Int, reason: String) {
            self.first = first
            self.last = last
            self.count = count
            self.reason = reason
        }
    }

    package struct Pause: Equatable, Sendable {
        package var note: PauseNote
        package var since: Date
        /// When the latest rest ends, or has ended.
        package var end: Date
        /// Whether somebody has ended it by hand, and nothing was accepted since.
        package var isResumed: Bool

        package init(_ note: PauseNote, since: Date, end: Date, isResumed: Bool = false) {
            self.note = note
            self.since = since
            self.end = end
            self.isResumed = isResumed
        }
    }

    package struct Endpoint: Equatable, Sendable {
        package var pause: Pause?
        package var failures: FailureRun?
        package var lastAccepted: Date?

        package init(pause: Pause? = nil, failures: FailureRun? = nil, lastAccepted: Date? = nil) {
            self.pause = pause
            self.failures = failures
            self.lastAccepted = lastAccepted
        }
    }

    package var startedAt: Date
    /// When a statement last succeeded; nil: none has yet.
    package var databaseSeen: Date?
    package var database: Trouble?
    package var schema: Trouble?
    package var listening = Listening.unknown
    package var listeningSince: Date
    /// How long the first of each lane has waited, as of `outboxSeen`.
    package var outboxAges: [Lane: Duration] = [:]
    package var outboxSeen: Date?
    package var backlog = 0
    package var largestBacklog: Int
    package var recording: Trouble?
    package var endpoints: [ProviderEndpoint: Endpoint] = [:]
    /// How long ago each loop last went on; nil while it has not begun or has ended in order.
    package var upkeepIdle: Duration?
    package var claimsIdle: Duration?

    package init(startedAt: Date, largestBacklog: Int) {
        self.startedAt = startedAt
        self.listeningSince = startedAt
        self.largestBacklog = largestBacklog
    }
}
