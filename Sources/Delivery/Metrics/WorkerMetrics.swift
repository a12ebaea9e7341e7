import APNS
import FCM
import Fanout
import HTTPTransport
package import Observability
import PushModel

/// Every metric of the worker, in the order of `/metrics`: what README, alert rules, dashboard and tests are checked
/// against. Labels come from the closed sets of the model and of the providers' tables.
package enum WorkerMetrics {
    // MARK: - The queue

    package static let queueDepth = Metric(
        "push_queue_depth", .gauge,
        """
        What is in the queue, counted up to \(10_000) for each lane: notifications in state outbox and batch (platform \
        any), deliveries put aside in state waiting and leased. The same for all workers of a database.
        """, labels: [MetricLabel("state", QueueState.allCases.map(\.rawValue)), lane, platformOrAny])
    package static let oldestWaiting = Metric(
        "push_oldest_waiting_seconds", .gauge,
        """
        How long the oldest has waited: the first of the outbox since it was queued (platform any), a delivery put aside \
        since it was first put aside. No series where nothing waits. The same for all workers of a database.
        """, labels: [MetricLabel("state", [QueueState.outbox, .waiting].map(\.rawValue)), lane, platformOrAny])
    package static let decisions = Metric(
        "push_decisions_total", .counter, "Notifications decided and recorded, by kind and decision.",
        labels: [
            MetricLabel("kind", NotificationKind.all.map(\.name)),
            MetricLabel("decision", FanoutDecision.allCases.map(\.rawValue)),
        ])
    package static let deliveries = Metric(
        "push_deliveries_total", .counter,
        "Deliveries that came to their end and were recorded: accepted (reason none), discarded or cancelled.",
        labels: [platform, MetricLabel("state", DeliveryState.allCases.filter(\.isFinal).map(\.rawValue)), reason])
    package static let leases = Metric(
        "push_leases_held", .gauge, "Leases this worker holds: of batches, and of deliveries that waited.",
        labels: [MetricLabel("kind", ["batch", "waiting"])])
    package static let batchesLost = Metric(
        "push_batches_lost_total", .counter, "Batches of this worker that another took over.")
    package static let rescued = Metric(
        "push_rescued_notifications_total", .counter, "Notifications of lost workers put back into the outbox.")
    package static let swept = Metric(
        "push_sweep_found_total", .counter, "Notifications that never reached the outbox and were found by the sweep.")
    package static let recorderBacklog = Metric(
        "push_recorder_backlog", .gauge, "Entries that wait to be written; too many stop the claims.")

    // MARK: - Sending

    package static let sends = Metric(
        "push_sends_total", .counter,
        "Tries that ended, by endpoint, outcome and the provider's or transport's reason.",
        labels: [endpoint, outcome, reason])
    package static let requestSeconds = Metric(
        "push_request_seconds", .shortTimes, "From the hand-over to a connection to the provider's answer.",
        labels: [endpoint])
    package static let acceptedSeconds = Metric(
        "push_commit_to_accepted_seconds", .longTimes,
        """
        From the row's created_at (the begin of the transaction that wrote it, by the database's clock) to the provider's \
        acceptance (by this machine's clock), retries and pauses included.
        """, labels: [endpoint, lane])
    package static let retries = Metric(
        "push_retries_total", .counter, "Tries that are followed by another, whatever the reason.", labels: [endpoint])
    package static let unknownOutcomes = Metric(
        "push_unknown_outcomes_total", .counter,
        "Tries of which nobody knows whether they arrived; repeated under the same ids.", labels: [endpoint])
    package static let retryAfterSeconds = Metric(
        "push_retry_after_seconds", .histogram(bounds: [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]),
        "Waits that a provider asked for with Retry-After.", labels: [endpoint])
    package static let throttled = Metric(
        "push_throttled_total", .counter,
        "Answers with status 429, by whom they are about: one device, or the endpoint and its quota.",
        labels: [endpoint, MetricLabel("scope", ["device", "endpoint"])])
    package static let paused = Metric(
        "push_endpoint_paused", .gauge, "1 while an endpoint rests, by cause.",
        labels: [endpoint, MetricLabel("cause", PauseCause.allCases.map(\.rawValue))])
    package static let lastAccepted = Metric(
        "push_last_accepted_timestamp_seconds", .gauge,
        "When the endpoint last accepted a push of this worker, in seconds since 1970.", labels: [endpoint])
    package static let tokenAge = Metric(
        "push_provider_token_age_seconds", .gauge,
        "Age of the token that is sent along: the ES256 JWT of APNs since its iat, the OAuth token of FCM since it was asked for.",
        labels: [endpoint])
    package static let connections = Metric(
        "push_connections", .gauge, "Open connections to the endpoint.", labels: [endpoint])
    package static let streams = Metric(
        "push_streams_in_use", .gauge, "Requests that are on the wire.", labels: [endpoint])
    package static let queuedRequests = Metric(
        "push_requests_queued", .gauge, "Requests that wait for a connection.", labels: [endpoint])
    package static let connectionsOpened = Metric(
        "push_connections_opened_total", .counter, "Connections made since the start.", labels: [endpoint])
    package static let tokensMarkedDead = Metric(
        "push_tokens_marked_dead_total", .counter, "Device tokens marked invalid.", labels: [platform])
    package static let tokensSpared = Metric(
        "push_tokens_spared_total", .counter,
        """
        Refused device tokens left as they are: prune_guard (too many are refused in a row), configuration (the endpoint \
        is suspected and paused), token_changed (the phone has registered anew).
        """, labels: [MetricLabel("cause", TokenSparing.allCases.map(\.rawValue))])

    // MARK: - The database

    package static let listenerConnected = Metric(
        "push_listener_connected", .gauge, "1 while LISTEN is established; without it the outbox is polled.")
    package static let listenerExpected = Metric(
        "push_listener_expected", .gauge, "1 where LISTEN works, 0 behind a transaction pooler.")
    package static let databaseSeconds = Metric(
        "push_database_seconds", .shortTimes,
        "From a statement's hand-over to its answer, with the wait for a connection; failures too.",
        labels: [operation])
    package static let databaseFailures = Metric(
        "push_database_failures_total", .counter, "Statements that failed; all of them are tried again.",
        labels: [operation, MetricLabel("kind", DatabaseFailure.allCases.map(\.rawValue))])

    // MARK: - What others ask of this process

    package static let webhookRequests = Metric(
        "push_webhook_requests_total", .counter, "Requests of the database webhook, by what became of them.",
        labels: [MetricLabel("result", WebhookResult.allCases.map(\.rawValue))])
    package static let httpRequests = Metric(
        "push_http_requests_total", .counter, "Answers of the HTTP server, by class of route and of status.",
        labels: [route, MetricLabel("status", ["1xx", "2xx", "3xx", "4xx", "5xx"])])
    package static let httpSeconds = Metric(
        "push_http_request_seconds", .shortTimes, "From a request's arrival to its answer.", labels: [route])

    // MARK: - The worker

    package static let ready = Metric("push_ready", .gauge, "1 while the worker is able to work, as /readyz says.")
    package static let dependencyState = Metric(
        "push_dependency_state", .gauge, "What /readyz says of a dependency: 0 ok, 1 degraded, 2 failed.",
        labels: [
            MetricLabel(
                "dependency",
                WorkerStatus.Dependency.Name.fixed.map(\.text) + ProviderEndpoint.allCases.map(\.rawValue))
        ])
    package static let workerInfo = Metric(
        "push_worker_info", .gauge, "1, with the version.", labels: [MetricLabel(constant: "version")])

    package static let all: [Metric] =
        [
            queueDepth, oldestWaiting, decisions, deliveries, leases, batchesLost, rescued, swept, recorderBacklog,
            sends, requestSeconds, acceptedSeconds, retries, unknownOutcomes, retryAfterSeconds, throttled, paused,
            lastAccepted, tokenAge, connections, streams, queuedRequests, connectionsOpened, tokensMarkedDead,
            tokensSpared, listenerConnected, listenerExpected, databaseSeconds, databaseFailures, webhookRequests,
            httpRequests, httpSeconds, ready, dependencyState, workerInfo,
        ] + ProcessMetrics.all

    /// A registry for all of it.
    package static func registry() -> MetricsRegistry {
        let registry = MetricsRegistry(Self.all)
        registry.collect(ProcessMetrics.collect)
        return registry
    }

    // MARK: - Labels

    private static let endpoint = MetricLabel("endpoint", ProviderEndpoint.allCases.map(\.rawValue))
    private static let platform = MetricLabel("platform", Platform.allCases.map(\.rawValue))
    private static let platformOrAny = MetricLabel("platform", Platform.allCases.map(\.rawValue) + ["any"])
    private static let lane = MetricLabel("lane", Lane.allCases.map(\.label))
    private static let outcome = MetricLabel("outcome", SendOutcome.names)
    private static let operation = MetricLabel("operation", DatabaseOperation.allCases.map(\.rawValue))
    private static let route = MetricLabel("route", HTTPRoute.allCases.map(\.rawValue))

    /// Where there is none, as for an acceptance.
    package static let noReason = "none"
    private static let reason = MetricLabel("reason", Self.reasons)

    /// The providers' own words, the transport's, and ours.
    package static let reasons: [String] = {
        var reasons = Set(APNSOutcome.knownReasons).union(FCMOutcome.knownReasons).union(HTTPFailure.knownReasons)
        reasons.formUnion(DeliveryReason.allCases.map(\.rawValue))
        reasons.formUnion(DeviceToken.Malformed.allCases.map(\.rawValue))
        reasons.formUnion(["key_cannot_sign", "token_endpoint_unavailable"])
        reasons.formUnion(
            ["invalid_grant", "invalid_scope", "invalid_client", "unauthorized_client", "access_denied"]
                .map { "token_endpoint_\($0)" })
        reasons.formUnion([400, 401, 403, 404, 407, 408, 413, 429, 500, 502, 503, 504].map(ReasonText.status))
        return [Self.noReason] + reasons.sorted()
    }()

    /// A reason as its label: the first word, since FCM's `INVALID_ARGUMENT` is followed by the field that was wrong.
    package static func reasonLabel(_ reason: String?) -> String {
        guard let reason else { return Self.noReason }
        guard let space = reason.utf8.firstIndex(of: UInt8(ascii: " ")) else { return reason }
        return String(reason[..<space])
    }
}
