package import Observability

/// What the control plane counts.
extension MetricsRegistry {
    /// One request of the database webhook. Counted once more by ``countRequest(_:status:duration:)``, as every request.
    package func countWebhook(_ result: WebhookResult) {
        self.update { $0.add(WorkerMetrics.webhookRequests, [result.rawValue]) }
    }

    /// One answer of the HTTP server. A stream of events counts when it begins.
    package func countRequest(_ route: HTTPRoute, status: Int, duration: Duration) {
        let status = Self.statusClasses.indices.contains(status / 100) ? Self.statusClasses[status / 100] : "other"
        self.update { update in
            update.add(WorkerMetrics.httpRequests, [route.rawValue, status])
            update.observe(WorkerMetrics.httpSeconds, [route.rawValue], duration)
        }
    }

    private static let statusClasses = ["other", "1xx", "2xx", "3xx", "4xx", "5xx"]
}
