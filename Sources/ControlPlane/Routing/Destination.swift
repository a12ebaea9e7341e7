import Dashboard
import Delivery
import HTTPServer
import PushModel

import struct FoundationEssentials.UUID

/// What a path leads to. Every address that is served stands here, and nothing else does.
enum Destination: Equatable {
    case webhook
    case liveness, readiness, metrics
    case asset(String)
    case signIn, signOut
    case page(Page)
    case action(Action)
    case events
    case api(APICall)

    enum Page: Equatable {
        case overview, deliveries, confirm, templates, database, activity
        case delivery(UUID)
        case notification(UUID)
        case bulk(UUID)
    }

    /// What operators do; by form or by API.
    enum Action: Equatable {
        /// Of a delivery, or of all that a notification has.
        case retry(UUID)
        case cancel(UUID)
        case bulkStart(Route.BulkKind)
        case bulkStop(UUID)
        case pause(ProviderEndpoint)
        case resume(ProviderEndpoint)
    }

    /// What programs read and do.
    enum APICall: Equatable {
        case overview, deliveries, providers, workers, audit, database, bulkActions
        case delivery(UUID)
        case notification(UUID)
        case bulk(UUID)
        case act(Action)
        /// Nothing is there; answered as the API answers.
        case unknown
    }

    /// Nil when nothing is there.
    init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch parts {
        case [""]: self = .page(.overview)
        case ["webhooks", "notifications"]: self = .webhook
        case ["healthz"]: self = .liveness
        case ["readyz"]: self = .readiness
        case ["metrics"]: self = .metrics
        case ["sign-in"]: self = .signIn
        case ["sign-out"]: self = .signOut
        case ["events"]: self = .events
        case ["deliveries"]: self = .page(.deliveries)
        case ["deliveries", "confirm"]: self = .page(.confirm)
        case ["templates"]: self = .page(.templates)
        case ["database"]: self = .page(.database)
        case ["activity"]: self = .page(.activity)
        default: self.init(parts)
        }
    }

    private init?(_ parts: [String]) {
        if parts.starts(with: ["api", "v1"]) {
            self = .api(APICall(Array(parts.dropFirst(2))))
        } else if let action = Action(parts) {
            self = .action(action)
        } else if parts.count == 2, parts[0] == "assets" {
            self = .asset(parts[1])
        } else if parts.count == 2, let id = UUID(uuidString: parts[1]) {
            switch parts[0] {
            case "deliveries": self = .page(.delivery(id))
            case "notifications": self = .page(.notification(id))
            case "bulk": self = .page(.bulk(id))
            default: return nil
            }
        } else {
            return nil
        }
    }

    // MARK: - What it takes

    var methods: [RequestHead.Method] {
        switch self {
        case .webhook, .signOut, .action, .api(.act): [.post]
        case .signIn: [.get, .head, .post]
        // Whatever is asked of what is not there, that is the answer.
        case .api(.unknown): [.get, .head, .post]
        case .liveness, .readiness, .metrics, .asset, .page, .events, .api: [.get, .head]
        }
    }

    /// The most bytes of a body. A row with a long text is a few kilobytes; forms and commands are less.
    var bodyLimit: Int {
        switch self {
        case .webhook: 1 << 20
        case .signIn, .signOut, .action, .api(.act), .api(.unknown): 16 * 1024
        case .liveness, .readiness, .metrics, .asset, .page, .events, .api: 0
        }
    }

    /// For the metrics.
    var route: HTTPRoute {
        switch self {
        case .webhook: .webhook
        case .liveness, .readiness: .health
        case .metrics: .metrics
        case .asset: .asset
        case .signIn, .signOut: .signIn
        case .page, .action: .page
        case .events: .events
        case .api: .api
        }
    }

    var isAPI: Bool { if case .api = self { true } else { false } }
}

extension Destination.Action {
    init?(_ parts: [String]) {
        switch (parts.count, parts.first, parts.last) {
        case (3, "deliveries", let verb):
            guard let id = UUID(uuidString: parts[1]) else { return nil }
            switch verb {
            case "retry": self = .retry(id)
            case "cancel": self = .cancel(id)
            default: return nil
            }
        case (2, "deliveries", let verb):
            guard let kind = verb.flatMap(Route.BulkKind.init(rawValue:)) else { return nil }
            self = .bulkStart(kind)
        case (3, "bulk", "stop"):
            guard let id = UUID(uuidString: parts[1]) else { return nil }
            self = .bulkStop(id)
        case (3, "providers", let verb):
            guard let endpoint = ProviderEndpoint(rawValue: parts[1]) else { return nil }
            switch verb {
            case "pause": self = .pause(endpoint)
            case "resume": self = .resume(endpoint)
            default: return nil
            }
        default: return nil
        }
    }
}

extension Destination.APICall {
    init(_ parts: [String]) {
        switch parts {
        case ["overview"]: self = .overview
        case ["deliveries"]: self = .deliveries
        case ["providers"]: self = .providers
        case ["workers"]: self = .workers
        case ["audit"]: self = .audit
        case ["database"]: self = .database
        case ["bulk"]: self = .bulkActions
        default:
            if let action = Destination.Action(parts) {
                self = .act(action)
            } else if parts.count == 2, let id = UUID(uuidString: parts[1]) {
                switch parts[0] {
                case "deliveries": self = .delivery(id)
                case "notifications": self = .notification(id)
                case "bulk": self = .bulk(id)
                default: self = .unknown
                }
            } else {
                self = .unknown
            }
        }
    }
}
