internal import DeliveryQueue
internal import Fanout
internal import Postgres
internal import PushModel
internal import TestSupport

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

/// The statements of a worker, each as one call.
struct QueueCalls: Sendable {
    let connection: PostgresConnection
    var worker = WorkerIdentity(id: UUID(), lockKey: nil)
    var lease = Duration.seconds(60)
    let source: SourceSchema

    init(_ queue: QueueDatabase, settings: [(name: String, value: String)] = []) async throws {
        self.source = queue.source
        // As the worker's sessions: what a switched-off plan is said to cost would otherwise start the compiler.
        self.connection = try await queue.connectWorker(settings: settings + [("jit", "off")])
    }

    init(connection: PostgresConnection, source: SourceSchema) {
        self.connection = connection
        self.source = source
    }

    func claim(_ limit: Int = 500) async throws -> ClaimedBatch? {
        let claim = OutboxClaim(source: self.source, limit: limit, lease: self.lease)
        return try claim.decode(try await self.connection.query(claim.query(worker: self.worker)))
    }

    /// Claims one notification, which must be there.
    func claimOne() async throws -> NotificationFacts {
        let batch = try await self.claim()
        guard let facts = batch?.facts.first, batch?.facts.count == 1 else {
            throw NotInTime("\(batch?.facts.count ?? 0) notifications were claimed instead of one")
        }
        return facts
    }

    func read(_ ids: [UUID]) async throws -> [UUID: NotificationFacts] {
        let reading = FactsReading(source: self.source)
        return try reading.decode(try await self.connection.query(reading.query(notificationIDs: ids)))
    }

    /// - Returns: how many batches were ended.
    @discardableResult
    func record(_ record: QueueRecord, repeated: Bool = false) async throws -> Int {
        let statement = RecordStatement(source: self.source, workerID: self.worker.id)
        return try await self.connection.query(statement.query(record, repeated: repeated)).single().int(0)
    }

    func claimWaiting(_ endpoints: [ProviderEndpoint], limit: Int = 500) async throws -> [WaitingDelivery] {
        let claim = WaitingClaim(lease: self.lease)
        let limits = Dictionary(uniqueKeysWithValues: endpoints.map { ($0, limit) })
        return try claim.decode(
            try await self.connection.query(claim.query(limits: limits, workerID: self.worker.id)))
    }

    @discardableResult
    func heartbeat(
        batches: [BatchLease] = [], waiting: [WaitingLease] = []
    ) async throws -> LeaseKeeping.Heartbeat {
        let keeping = LeaseKeeping(lease: self.lease)
        return try keeping.decodeHeartbeat(
            try await self.connection.query(
                keeping.heartbeat(
                    worker: self.worker, name: "test", version: "1", listening: true, batches: batches,
                    waiting: waiting)))
    }

    func lock() async throws -> Bool {
        try await self.connection.query(LeaseKeeping(lease: self.lease).lock(key: self.worker.lockKey ?? 0)).single()
            .bool(0)
    }

    /// - Returns: how many notifications went back to the outbox.
    func rescue() async throws -> Int {
        try await self.connection.query(LeaseKeeping(lease: self.lease).rescue(worker: self.worker)).affected
    }
}

extension DeliveryReference {
    /// Of made-up rows, for what is only written and counted.
    static func make(
        notification: UUID = UUID(), device: UUID = UUID(), account: UUID = UUID(), platform: Platform = .ios,
        kind: String = "invitation_received"
    ) -> DeliveryReference {
        DeliveryReference(
            deliveryID: DeliveryID.make(notification: notification, device: device), notificationID: notification,
            deviceID: device, accountID: account, platform: platform, kindName: kind)
    }
}

extension AttemptEntry {
    static func accepted(_ delivery: DeliveryReference, number: Int = 1) -> AttemptEntry {
        AttemptEntry(
            delivery: delivery, number: number, state: .accepted, outcome: "accepted", status: 200,
            duration: .milliseconds(12))
    }

    static func retried(_ delivery: DeliveryReference, number: Int = 1, reason: String = "status_503") -> AttemptEntry {
        AttemptEntry(
            delivery: delivery, number: number, state: .available, outcome: "retry", status: 503, reason: reason,
            duration: .milliseconds(30))
    }
}

extension ParkedEntry {
    static func make(
        _ delivery: DeliveryReference, endpoint: ProviderEndpoint = .apnsProduction, attempts: Int = 1,
        reason: String = "status_503",
        wait: Duration = .zero
    ) -> ParkedEntry {
        ParkedEntry(
            delivery: delivery, endpoint: endpoint, attempts: attempts, reason: reason, wait: wait,
            expiresAt: Date(timeIntervalSinceNow: 3600))
    }
}

extension DecisionEntry {
    static func fannedOut(_ deliveries: [DeliveryReference], origin: OutboxOrigin = .trigger) -> DecisionEntry {
        DecisionEntry(
            notificationID: deliveries[0].notificationID, accountID: deliveries[0].accountID,
            kindName: deliveries[0].kindName, decision: .fannedOut, origin: origin,
            deliveryIDs: deliveries.map(\.deliveryID), deviceIDs: deliveries.map(\.deviceID))
    }

    static func other(_ notification: UUID, _ decision: FanoutDecision) -> DecisionEntry {
        DecisionEntry(
            notificationID: notification, accountID: nil, kindName: nil, decision: decision, origin: .trigger,
            deliveryIDs: [], deviceIDs: [])
    }
}

extension QueueRecord {
    init(
        decisions: [DecisionEntry] = [], attempts: [AttemptEntry] = [], parked: [ParkedEntry] = [],
        settled: [UUID] = [], closed: [BatchLease] = [], released: [ReleaseEntry] = []
    ) {
        self.init()
        self.decisions = decisions
        self.attempts = attempts
        self.parked = parked
        self.settled = settled
        self.closed = closed
        self.released = released
    }
}
