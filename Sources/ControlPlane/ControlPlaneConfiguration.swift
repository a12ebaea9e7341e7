package import Delivery
package import DeliveryQueue
package import HTTPServer
package import Localization
package import Observability
package import Postgres
package import PushModel

/// What the control plane is made of.
package struct ControlPlaneConfiguration: Sendable {
    package var address: ListenAddress
    /// What the database webhook sends along; nil: there is no webhook.
    package var webhookSecret: Secret?
    /// May look and act; nil: nobody may act.
    package var operatorToken: Secret?
    /// May look.
    package var viewerToken: Secret?
    package var database: PostgresConfiguration
    package var source: SourceSchema
    /// How long after its creation a notification of a kind is worth a push.
    package var lifetime: @Sendable (NotificationKind) -> Duration
    package var metrics: MetricsRegistry
    /// How the worker is; cheap, asks nobody.
    package var status: @Sendable () -> WorkerStatus
    /// Has the worker look for work now.
    package var wake: @Sendable () -> Void
    /// The language files as they are now.
    package var languages: @Sendable () -> LanguageCatalog
    package var identity: ProviderIdentity
    package var log: Log

    package init(
        address: ListenAddress, webhookSecret: Secret? = nil, operatorToken: Secret? = nil, viewerToken: Secret? = nil,
        database: PostgresConfiguration, source: SourceSchema,
        lifetime: @escaping @Sendable (NotificationKind) -> Duration, metrics: MetricsRegistry,
        status: @escaping @Sendable () -> WorkerStatus, wake: @escaping @Sendable () -> Void,
        languages: @escaping @Sendable () -> LanguageCatalog, identity: ProviderIdentity = ProviderIdentity(), log: Log
    ) {
        self.address = address
        self.webhookSecret = webhookSecret
        self.operatorToken = operatorToken
        self.viewerToken = viewerToken
        self.database = database
        self.source = source
        self.lifetime = lifetime
        self.metrics = metrics
        self.status = status
        self.wake = wake
        self.languages = languages
        self.identity = identity
        self.log = log
    }

    /// Nobody may sign in: there is no token.
    var isClosed: Bool { self.operatorToken == nil && self.viewerToken == nil }
}
