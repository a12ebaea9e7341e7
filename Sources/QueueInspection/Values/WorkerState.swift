package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// One start of the program `push-fanout run`.
package struct WorkerState: Sendable {
    package var id: UUID
    package var name: String
    package var version: String
    package var startedAt: Date
    package var heartbeatAt: Date
    package var stoppedAt: Date?
    /// Whether it is woken by NOTIFY; otherwise it polls.
    package var isListening: Bool
    /// Notifications in its open batches.
    package var running: Int
    package var condition: Condition

    package enum Condition: String, Hashable, Sendable {
        case running
        /// It said good-bye.
        case stopped
        /// No heartbeat for 15 seconds and no good-bye: what it holds is rescued when its leases end.
        case lost
    }

    package init(
        id: UUID, name: String, version: String, startedAt: Date, heartbeatAt: Date, stoppedAt: Date?,
        isListening: Bool, running: Int, condition: Condition
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.startedAt = startedAt
        self.heartbeatAt = heartbeatAt
        self.stoppedAt = stoppedAt
        self.isListening = isListening
        self.running = running
        self.condition = condition
    }
}
