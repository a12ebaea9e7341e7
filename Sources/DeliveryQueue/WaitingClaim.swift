package import Postgres
package import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// A waiting delivery whose time has come, leased.
package struct WaitingDelivery: Sendable {
    package var reference: DeliveryReference
    package var endpoint: ProviderEndpoint
    /// Tries so far that count against the maximum.
    package var attempts: Int
    package var reason: String
    package var expiresAt: Date
    package var leaseToken: UUID

    package var lease: WaitingLease { WaitingLease(deliveryID: self.reference.deliveryID, token: self.leaseToken) }
}

/// The right to a waiting delivery.
package struct WaitingLease: Hashable, Sendable {
    package var deliveryID: UUID
    package var token: UUID

    package init(deliveryID: UUID, token: UUID) {
        self.deliveryID = deliveryID
        self.token = token
    }
}

/// Leases deliveries that are due.
package struct WaitingClaim: Sendable {
    package var lease: Duration

    package init(lease: Duration) {
        self.lease = lease
    }

    /// By `(endpoint, scheduled_at)`, an endpoint at a time: what waits for a paused one is never scanned. The lease
    /// moves `scheduled_at` to its own end, so a lost lease needs no rescue.
    ///
    /// - Parameter limits: how many at most for each endpoint; none for those left out.
    package func query(limits: [ProviderEndpoint: Int], workerID: UUID) -> PostgresQuery {
        let limits = limits.sorted { $0.key.rawValue < $1.key.rawValue }
        return """
            with due as materialized (
                select d.delivery_id
                from unnest(\(limits.map(\.key.rawValue))::text[], \(limits.map(\.value))::integer[]) as e (endpoint, most)
                cross join lateral (
                    select w.delivery_id from push.waiting w
                    where w.endpoint = e.endpoint and w.scheduled_at <= now()
                    order by w.scheduled_at
                    limit e.most
                    for update skip locked
                ) d
            )
            update push.waiting w
            set lease_token = gen_random_uuid(), worker_id = \(workerID)::uuid,
                scheduled_at = now() + \(self.lease)::interval
            where w.delivery_id = any (array(select delivery_id from due order by delivery_id))
            returning w.delivery_id, w.notification_id, w.device_id, w.account_id, w.platform, w.kind, w.endpoint, w.attempts,
                w.reason, w.expires_at, w.lease_token
            """
    }

    package func decode(_ rows: PostgresRows) throws(PostgresError) -> [WaitingDelivery] {
        var deliveries: [WaitingDelivery] = []
        deliveries.reserveCapacity(rows.count)
        for row in rows {
            guard let platform = Platform(rawValue: try row.text(4)),
                let endpoint = ProviderEndpoint(rawValue: try row.text(6))
            else { continue }
            deliveries.append(
                WaitingDelivery(
                    reference: DeliveryReference(
                        deliveryID: try row.uuid(0), notificationID: try row.uuid(1), deviceID: try row.uuid(2),
                        accountID: try row.uuid(3), platform: platform, kindName: try row.text(5)),
                    endpoint: endpoint, attempts: try row.int(7), reason: try row.text(8), expiresAt: try row.date(9),
                    leaseToken: try row.uuid(10)))
        }
        return deliveries
    }
}
