import Observability
package import PushModel

/// Where something is in the queue, for ``WorkerMetrics/queueDepth``.
package enum QueueState: String, CaseIterable, Sendable {
    /// Notifications not yet claimed.
    case outbox
    /// Notifications in open batches.
    case batch
    /// Deliveries put aside.
    case waiting
    /// Deliveries that waited and are being tried.
    case leased
}

/// Why a refused token was not marked dead.
package enum TokenSparing: String, CaseIterable, Sendable {
    case pruneGuard = "prune_guard"
    case configuration
    case tokenChanged = "token_changed"
}

/// What a statement is for.
package enum DatabaseOperation: String, CaseIterable, Sendable {
    case claim, facts, record, heartbeat, rescue, sweep, partitions, rollup, gauges, probe
    case waitingClaim = "waiting_claim"
}

/// What became of a request of the database webhook.
package enum WebhookResult: String, CaseIterable, Sendable {
    /// Queued (INSERT), looked at anew (UPDATE), cancelled (DELETE).
    case queued, reevaluated, cancelled
    /// Of another table, or about nothing we do.
    case ignored
    case unauthorized
    /// Not read: wrong method, too large, no JSON, no such member.
    case malformed
    /// The database is down: the sender is told, and the sweep finds the row.
    case unavailable
}

/// Classes of routes: a path never becomes a label.
package enum HTTPRoute: String, CaseIterable, Sendable {
    case webhook, page, asset, api, events, metrics, health, unknown
    case signIn = "sign_in"
}

extension Lane {
    /// The word for a label.
    package var label: String {
        switch self {
        case .interactive: "interactive"
        case .normal: "normal"
        case .bulk: "bulk"
        }
    }
}

extension SendOutcome {
    /// Every value of ``name``.
    static let names = [
        "accepted", "retry", "device_dead", "bad_device_token", "rejected", "misconfigured", "unknown",
    ]
}
