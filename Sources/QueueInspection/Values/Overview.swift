package import PushModel

package import struct FoundationEssentials.Date

/// The state of the queue on one page.
package struct Overview: Sendable {
    /// When it was read, by the database's clock.
    package var readAt: Date
    /// Notifications in the outbox, every lane, lowest first.
    package var lanes: [LaneDepth]
    /// Deliveries that wait, every endpoint.
    package var endpoints: [EndpointDepth]
    /// Notifications in open batches.
    package var running: Int
    /// How long the oldest notification has been in the outbox, in seconds; nil when it is empty.
    package var oldestWaitingSeconds: Double?
    /// The last hour by the minute.
    package var series: MinuteSeries
    /// Nil when nothing was accepted lately, or the reader may not read the app's notifications.
    package var latency: LatencySample?
    /// Every endpoint.
    package var providers: [ProviderState]
    /// Those that run, and those that were seen within the last day, newest heartbeat first; at most 50.
    package var workers: [WorkerState]

    package init(
        readAt: Date, lanes: [LaneDepth], endpoints: [EndpointDepth], running: Int, oldestWaitingSeconds: Double?,
        series: MinuteSeries, latency: LatencySample?, providers: [ProviderState], workers: [WorkerState]
    ) {
        self.readAt = readAt
        self.lanes = lanes
        self.endpoints = endpoints
        self.running = running
        self.oldestWaitingSeconds = oldestWaitingSeconds
        self.series = series
        self.latency = latency
        self.providers = providers
        self.workers = workers
    }
}

/// Notifications that wait to be claimed, of one lane.
package struct LaneDepth: Sendable {
    package var lane: Lane
    package var count: CappedCount
    /// Age of the first one, in seconds; nil when there is none.
    package var oldestSeconds: Double?

    package init(lane: Lane, count: CappedCount, oldestSeconds: Double?) {
        self.lane = lane
        self.count = count
        self.oldestSeconds = oldestSeconds
    }
}

/// Deliveries that wait for one endpoint: retries, and what a pause holds back.
package struct EndpointDepth: Sendable {
    package var endpoint: ProviderEndpoint
    package var count: CappedCount
    /// Those whose time has come.
    package var due: CappedCount
    /// How long the one that is due longest has been due, in seconds; nil when none is.
    package var oldestDueSeconds: Double?

    package init(endpoint: ProviderEndpoint, count: CappedCount, due: CappedCount, oldestDueSeconds: Double?) {
        self.endpoint = endpoint
        self.count = count
        self.due = due
        self.oldestDueSeconds = oldestDueSeconds
    }
}

/// What happened in each minute of the last hour, from the counters that workers keep.
package struct MinuteSeries: Sendable {
    /// Oldest first, without gaps; the last one is the minute under way.
    package var minutes: [MinuteCounts]

    package init(minutes: [MinuteCounts]) { self.minutes = minutes }
}

/// What was counted in one minute.
package struct MinuteCounts: Hashable, Sendable {
    /// When the minute began.
    package var minute: Date
    /// Notifications decided, whatever the decision.
    package var decisions: Int
    /// Deliveries a provider accepted.
    package var accepted: Int
    package var discarded: Int
    package var cancelled: Int
    /// Tries that are to be made again.
    package var retries: Int

    package init(
        minute: Date, decisions: Int = 0, accepted: Int = 0, discarded: Int = 0, cancelled: Int = 0, retries: Int = 0
    ) {
        self.minute = minute
        self.decisions = decisions
        self.accepted = accepted
        self.discarded = discarded
        self.cancelled = cancelled
        self.retries = retries
    }
}

/// From a notification's `created_at` to the provider's acceptance, in seconds: a sample of the latest deliveries that
/// were accepted at their first try.
package struct LatencySample: Hashable, Sendable {
    /// How many deliveries it was taken from.
    package var count: Int
    package var median: Double
    package var p95: Double
    package var longest: Double

    package init(count: Int, median: Double, p95: Double, longest: Double) {
        self.count = count
        self.median = median
        self.p95 = p95
        self.longest = longest
    }
}
