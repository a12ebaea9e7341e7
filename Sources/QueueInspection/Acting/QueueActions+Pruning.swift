package import DeliveryQueue
package import Postgres

internal import struct FoundationEssentials.UUID

extension QueueActions {
    /// Writes down that somebody pruned the history by hand. What workers do by themselves is in their log.
    package static func notePruning(
        _ report: HistoryPruning.Report, actor: String, on connection: PostgresConnection
    ) async throws {
        guard !report.isEmpty else { return }
        let days = report.partitions.joined(separator: ", ")
        try await connection.query(
            AuditWriting.entry(
                id: UUID(), actor: actor, action: .prune, target: .history, matched: report.partitions.count,
                changed: report.partitions.count, note: "\(report.rows) rows, and \(days.isEmpty ? "no day" : days)"))
    }
}
