package import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// What is written in one flush: facts that happened, of any number of batches. Appended whoever holds the lease by
/// now; only closing and releasing a batch take its token.
package struct QueueRecord: Sendable {
    package var decisions: [DecisionEntry] = []
    package var attempts: [AttemptEntry] = []
    package var parked: [ParkedEntry] = []
    /// Waiting deliveries that are final now.
    package var settled: [UUID] = []
    package var deadTokens: [DeadTokenEntry] = []
    package var environments: [EnvironmentEntry] = []
    package var pauses: [PauseEntry] = []
    /// Endpoints whose pause has ended for all workers: their configuration was read anew.
    package var resumed: [ProviderEndpoint] = []
    package var closed: [BatchLease] = []
    package var released: [ReleaseEntry] = []
    package var snoozed: [SnoozeEntry] = []

    package init() {}

    package var isEmpty: Bool { self.count == 0 }

    /// How many entries wait to be written.
    package var count: Int {
        self.decisions.count + self.attempts.count + self.parked.count + self.settled.count + self.deadTokens.count
            + self.environments.count + self.pauses.count + self.resumed.count + self.closed.count + self.released.count
            + self.snoozed.count
    }

    /// One record for each entry, batches ended last.
    package var singles: [QueueRecord] {
        func each<Entry>(_ entries: [Entry], _ field: WritableKeyPath<QueueRecord, [Entry]>) -> [QueueRecord] {
            entries.map { entry in
                var record = QueueRecord()
                record[keyPath: field] = [entry]
                return record
            }
        }
        var records = each(self.decisions, \.decisions) + each(self.attempts, \.attempts) + each(self.parked, \.parked)
        records += each(self.settled, \.settled) + each(self.snoozed, \.snoozed) + each(self.deadTokens, \.deadTokens)
        records += each(self.environments, \.environments) + each(self.pauses, \.pauses)
        records += each(self.resumed, \.resumed) + each(self.released, \.released) + each(self.closed, \.closed)
        return records
    }

    /// What kinds of entries it has, for the log.
    package var summary: String {
        let counts = [
            ("decision", self.decisions.count), ("attempt", self.attempts.count), ("parked", self.parked.count),
            ("settled", self.settled.count), ("snoozed", self.snoozed.count), ("dead token", self.deadTokens.count),
            ("environment", self.environments.count), ("pause", self.pauses.count), ("resume", self.resumed.count),
            ("closed", self.closed.count), ("released", self.released.count),
        ]
        return counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    }

    package mutating func append(_ other: QueueRecord) {
        self.decisions += other.decisions
        self.attempts += other.attempts
        self.parked += other.parked
        self.settled += other.settled
        self.deadTokens += other.deadTokens
        self.environments += other.environments
        self.pauses += other.pauses
        self.resumed += other.resumed
        self.closed += other.closed
        self.released += other.released
        self.snoozed += other.snoozed
    }
}

/// One line of `push.fanouts`.
package struct DecisionEntry: Sendable {
    package var notificationID: UUID
    package var accountID: UUID?
    package var kindName: String?
    package var decision: FanoutDecision
    package var origin: OutboxOrigin
    package var deliveryIDs: [UUID]
    package var deviceIDs: [UUID]

    package init(
        notificationID: UUID, accountID: UUID?, kindName: String?, decision: FanoutDecision, origin: OutboxOrigin,
        deliveryIDs: [UUID], deviceIDs: [UUID]
    ) {
        self.notificationID = notificationID
        self.accountID = accountID
        self.kindName = kindName
        self.decision = decision
        self.origin = origin
        self.deliveryIDs = deliveryIDs
        self.deviceIDs = deviceIDs
    }
}

/// The ids and words that name a delivery in the queue's tables.
package struct DeliveryReference: Hashable, Sendable {
    package var deliveryID: UUID
    package var notificationID: UUID
    package var deviceID: UUID
    package var accountID: UUID
    package var platform: Platform
    package var kindName: String

    package init(
        deliveryID: UUID, notificationID: UUID, deviceID: UUID, accountID: UUID, platform: Platform, kindName: String
    ) {
        self.deliveryID = deliveryID
        self.notificationID = notificationID
        self.deviceID = deviceID
        self.accountID = accountID
        self.platform = platform
        self.kindName = kindName
    }
}

/// One line of `push.attempts`.
package struct AttemptEntry: Sendable {
    package var delivery: DeliveryReference
    /// Counted from 1; 0 for an end without any try.
    package var number: Int
    /// Where the delivery stands after it.
    package var state: DeliveryState
    package var outcome: String
    /// HTTP status, if there was an answer.
    package var status: Int?
    package var reason: String?
    package var providerID: String?
    /// From hand-over to answer; nil when nothing was sent.
    package var duration: Duration?

    package init(
        delivery: DeliveryReference, number: Int, state: DeliveryState, outcome: String, status: Int? = nil,
        reason: String? = nil, providerID: String? = nil, duration: Duration? = nil
    ) {
        self.delivery = delivery
        self.number = number
        self.state = state
        self.outcome = outcome
        self.status = status
        self.reason = reason
        self.providerID = providerID
        self.duration = duration
    }
}

/// A delivery that must wait.
package struct ParkedEntry: Sendable {
    package var delivery: DeliveryReference
    package var endpoint: ProviderEndpoint
    /// Tries so far that count against the maximum.
    package var attempts: Int
    package var reason: String
    package var wait: Duration
    package var expiresAt: Date

    package init(
        delivery: DeliveryReference, endpoint: ProviderEndpoint, attempts: Int, reason: String, wait: Duration,
        expiresAt: Date
    ) {
        self.delivery = delivery
        self.endpoint = endpoint
        self.attempts = attempts
        self.reason = reason
        self.wait = wait
        self.expiresAt = expiresAt
    }
}

/// A token the provider calls dead. Marked only while it is the stored one and, where the provider says since when,
/// only if it was not registered again after that.
package struct DeadTokenEntry: Sendable {
    package var deviceID: UUID
    /// As it stood in the row, not normalised.
    package var storedToken: String
    package var reason: String
    package var since: Date?

    package init(deviceID: UUID, storedToken: String, reason: String, since: Date?) {
        self.deviceID = deviceID
        self.storedToken = storedToken
        self.reason = reason
        self.since = since
    }
}

/// A token that turned out to belong to the other APNs environment.
package struct EnvironmentEntry: Sendable {
    package var deviceID: UUID
    package var storedToken: String
    package var environment: APNSEnvironment

    package init(deviceID: UUID, storedToken: String, environment: APNSEnvironment) {
        self.deviceID = deviceID
        self.storedToken = storedToken
        self.environment = environment
    }
}

/// An endpoint that no worker shall use for a while.
package struct PauseEntry: Sendable {
    package var endpoint: ProviderEndpoint
    package var duration: Duration
    package var reason: String
    package var fix: String?

    package init(endpoint: ProviderEndpoint, duration: Duration, reason: String, fix: String?) {
        self.endpoint = endpoint
        self.duration = duration
        self.reason = reason
        self.fix = fix
    }
}

/// A batch given back before it was finished: these notifications return to the outbox.
package struct ReleaseEntry: Sendable {
    package var lease: BatchLease
    package var notificationIDs: [UUID]

    package init(lease: BatchLease, notificationIDs: [UUID]) {
        self.lease = lease
        self.notificationIDs = notificationIDs
    }
}

/// A waiting delivery put back unsent, its attempts as they were.
package struct SnoozeEntry: Sendable {
    package var lease: WaitingLease
    package var wait: Duration

    package init(lease: WaitingLease, wait: Duration) {
        self.lease = lease
        self.wait = wait
    }
}
