internal import DeliveryQueue
internal import Fanout
internal import Postgres
internal import PushModel
internal import QueueInspection
internal import TestSupport

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

/// A queue with an operator: a reader as a page would have it, and the actions, both as a login role of `push_operator`.
struct InspectedQueue: Sendable {
    let queue: QueueDatabase
    let reader: QueueReader
    let actions: QueueActions

    static func with<Result>(
        own: Bool = false, _ body: (InspectedQueue) async throws -> Result
    ) async throws -> Result {
        func inspected(_ queue: QueueDatabase) async throws -> Result {
            try await queue.owner.run(script: Self.partitions(days: 1))
            let role = try await queue.database.server.createRole(options: "login in role push_operator")
            var database = try PostgresConfiguration(queue.database.url(role: role))
            let actions = QueueActions(source: queue.source, database: database) { _ in .seconds(28 * 86_400) }
            database.settings = QueueReader.sessionSettings
            let connection = try await PostgresConnection.connect(database)
            let reader = QueueReader(source: queue.source, connection: connection)
            let result = try await body(InspectedQueue(queue: queue, reader: reader, actions: actions))
            await connection.close()
            return result
        }
        return own ? try await QueueDatabase.withOwn(inspected) : try await QueueDatabase.with(inspected)
    }

    /// Makes the partitions of days that are over, which no worker does: what happened "two hours ago" may lie in one.
    static func partitions(days: Int) -> String {
        """
        do $$
        declare
            parent text;
            day date;
        begin
            for day in select (now() at time zone 'UTC')::date - i from generate_series(1, \(days)) i loop
                foreach parent in array array['fanouts', 'attempts'] loop
                    execute format('create table if not exists push.%I partition of push.%I for values from (%L) to (%L)',
                        parent || '_' || to_char(day, 'YYYYMMDD'), parent, day || ' 00:00Z', day + 1 || ' 00:00Z');
                end loop;
            end loop;
        end
        $$
        """
    }

    /// A delivery of a notification of its own, decided and, unless it runs, ended or waiting.
    struct Made: Sendable {
        var account: UUID
        var device: UUID
        var notification: UUID
        var id: UUID
    }

    /// - Parameters:
    ///   - state: available makes it wait; running only decides it, in an open batch.
    ///   - ago: how long ago it was decided and ended, or began to wait.
    @discardableResult
    func delivery(
        _ state: DeliveryState, reason: String? = nil, kind: String = "invitation_received",
        platform: Platform = .ios, account: UUID? = nil, number: Int = 1, ago: Duration = .seconds(60)
    ) async throws -> Made {
        let owner = self.queue.owner
        let account = if let account { account } else { try await self.queue.account() }
        let device = try await self.queue.device(of: account, platform: platform)
        let notification = try await self.queue.notification(
            to: account, kind: kind, createdAt: Date(timeIntervalSinceNow: -ago.inSeconds - 1))
        let made = Made(
            account: account, device: device, notification: notification,
            id: DeliveryID.make(notification: notification, device: device))
        try await owner.query("delete from push.outbox where notification_id = \(notification)")
        try await owner.query(
            """
            insert into push.fanouts
                (notification_id, account_id, kind, decision, origin, delivery_ids, device_ids, worker_id, decided_at)
            values (\(notification), \(account), \(kind), 'fanned_out', 'trigger', array[\(made.id)::uuid],
                array[\(device)::uuid], gen_random_uuid(), now() - \(ago)::interval)
            """)
        switch state {
        case .accepted, .discarded, .cancelled:
            try await owner.query(
                """
                insert into push.attempts (delivery_id, notification_id, device_id, account_id, platform, kind, number,
                    state, outcome, status, reason, milliseconds, worker_id, finished_at)
                values (\(made.id), \(notification), \(device), \(account), \(platform.rawValue), \(kind),
                    \(number)::smallint, \(state.rawValue), \(state.rawValue), 200, \(reason), 12, gen_random_uuid(),
                    now() - \(ago)::interval)
                """)
        case .available:
            try await owner.query(
                """
                insert into push.waiting (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint,
                    attempts, reason, expires_at, scheduled_at, parked_at)
                values (\(made.id), \(notification), \(device), \(account), \(platform.rawValue), \(kind),
                    \(platform == .ios ? "apns:production" : "fcm"), \(number)::smallint, \(reason ?? "status_503"),
                    now() + interval '1 day', now() + interval '1 hour', now() - \(ago)::interval)
                """)
        case .running:
            try await owner.query(
                """
                insert into push.batches (worker_id, notification_ids, lanes, rescues, leased_until, opened_at)
                values (gen_random_uuid(), array[\(notification)::uuid], '{0}', 0, now() + interval '1 minute',
                    now() - \(ago)::interval)
                """)
        }
        return made
    }

    func ids(_ filter: DeliveryFilter) async throws -> Set<UUID> {
        Set(try await self.reader.deliveries(matching: filter).rows.map(\.id))
    }

    func state(_ made: Made) async throws -> DeliveryState? {
        try await self.reader.states(of: [made.id]).first?.state
    }
}
