package import PushModel

package import struct FoundationEssentials.Date

/// How a worker is, for people and for `/healthz` and `/readyz`.
package struct WorkerStatus: Equatable, Sendable {
    /// One thing the worker cannot do without.
    package struct Dependency: Equatable, Sendable {
        package enum Name: Hashable, Sendable {
            case database, schema, listener, outbox, recorder
            case endpoint(ProviderEndpoint)

            /// All but the endpoints.
            static let fixed: [Name] = [.database, .schema, .listener, .outbox, .recorder]

            /// The word for pages, answers and labels: `database`, `apns:production`.
            package var text: String {
                switch self {
                case .database: "database"
                case .schema: "schema"
                case .listener: "listener"
                case .outbox: "outbox"
                case .recorder: "recorder"
                case .endpoint(let endpoint): endpoint.rawValue
                }
            }
        }

        package enum State: Int, Comparable, Sendable {
            case ok, degraded, failed

            package var name: String {
                switch self {
                case .ok: "ok"
                case .degraded: "degraded"
                case .failed: "failed"
                }
            }

            package static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
        }

        package var name: Name
        package var state: State
        /// When it came into this state.
        package var since: Date
        /// What is the matter; in a word what is well where nothing is.
        package var reason: String
        /// What a person should do.
        package var fix: String?

        package init(_ name: Name, _ state: State, since: Date, _ reason: String, fix: String? = nil) {
            self.name = name
            self.state = state
            self.since = since
            self.reason = reason
            self.fix = fix
        }
    }

    /// Whether work gets done: no dependency has failed. One that is degraded costs time, not pushes.
    package var isReady: Bool { self.dependencies.allSatisfy { $0.state != .failed } }
    /// Whether the loops go round. A database or provider that is away does not count: a restart would not help.
    package var isAlive: Bool { self.stuck == nil }
    /// What no longer goes round, and since how long; nil when all do.
    package var stuck: String?
    /// Database, schema, listener, outbox and recorder, then the configured endpoints.
    package var dependencies: [Dependency]

    package init(stuck: String? = nil, dependencies: [Dependency]) {
        self.stuck = stuck
        self.dependencies = dependencies
    }
}
