package import DeliveryQueue
package import PushModel

/// How the worker works. Defaults are what `push-fanout run` uses.
package struct DeliverySettings: Sendable {
    /// Where the app's tables are.
    package var source: SourceSchema
    /// Notifications claimed at once, at most. Default 500: the knee of the measured curve.
    package var batchSize = 500
    /// How long a batch is a worker's own without a heartbeat. Default 60 s.
    package var lease = Duration.seconds(60)
    /// The look without a wake. Default 1 s.
    package var poll = Duration.seconds(1)
    /// The look where LISTEN does not work (a transaction pooler). Default 250 ms.
    package var pollWithoutListen = Duration.milliseconds(250)
    /// Between heartbeats. Default 2 s; at most a third of the lease.
    package var heartbeat = Duration.seconds(2)
    /// How long a stopping worker waits for what is in flight. Default 25 s.
    package var drainLimit = Duration.seconds(25)
    /// Facts older than this are read again before a send. Default 1 s: with a backlog, what is claimed ahead waits for some
    /// hundred milliseconds, and reading everything twice would make it wait longer still.
    package var factsFreshness = Duration.seconds(1)
    /// Batches claimed ahead of what is on its way. Default 4.
    package var claimsAhead = 4
    /// No claims while more outcomes than this wait to be written. Default 20,000.
    package var largestBacklog = 20_000
    /// How long a configuration fault rests an endpoint before it is probed. Default 60 s.
    package var pauseForMisconfiguration = Duration.seconds(60)
    /// How far back a sweep looks for notifications that never reached the outbox. Default one day.
    package var sweepAge = Duration.seconds(86_400)
    /// How long decisions and tries are kept. Default 30 days.
    package var keep = HistoryPruning.defaultKeep
    /// How long after its creation a notification is still pushed, by kind.
    package var lifetime: @Sendable (NotificationKind) -> Duration

    package init(source: SourceSchema, lifetime: @escaping @Sendable (NotificationKind) -> Duration) {
        self.source = source
        self.lifetime = lifetime
    }
}
