internal import Postgres
internal import PushModel

internal import struct FoundationEssentials.Data
internal import struct FoundationEssentials.Date
internal import class FoundationEssentials.JSONDecoder
internal import class FoundationEssentials.JSONEncoder
internal import struct FoundationEssentials.UUID

/// How the audit and bulk actions are read.
enum AuditSQL {
    /// Of a bulk action its entry says who wanted what; how many it has changed by now stands with the action itself.
    static let columns = """
        id, at, actor, action, target_kind, target_id, filter::text, matched,
        coalesce((
            select b.changed from push.bulk_actions b where b.id = audit.id and audit.target_kind = 'filter' offset 0
        ), changed), note,
        (extract(epoch from at) * 1000000)::bigint
        """

    static let bulkColumns =
        "id, action, filter::text, state, matched, done, changed, actor, started_at, updated_at, error, position, is_capped"

    /// Nil for an action that this program does not know.
    static func entry(_ row: PostgresRow) throws(PostgresError) -> AuditEntry? {
        guard let action = AuditEntry.Action(rawValue: try row.text(3)), let target = try self.target(row) else {
            return nil
        }
        return AuditEntry(
            id: try row.uuid(0), at: try row.date(1), actor: try row.text(2), action: action, target: target,
            matched: try row.int(7), changed: try row.int(8), note: try row.optionalText(9))
    }

    private static func target(_ row: PostgresRow) throws(PostgresError) -> AuditEntry.Target? {
        let id = try row.optionalText(5) ?? ""
        switch try row.text(4) {
        case "delivery": return UUID(uuidString: id).map { .delivery($0) }
        case "notification": return UUID(uuidString: id).map { .notification($0) }
        case "provider": return .provider(id)
        case "filter":
            let filter = self.filter(try row.optionalText(6))
            return UUID(uuidString: id).map { .filter(filter, bulk: $0) }
        case "history": return .history
        default: return nil
        }
    }

    static func bulk(_ row: PostgresRow) throws(PostgresError) -> BulkAction {
        BulkAction(
            id: try row.uuid(0), action: try row.text(1) == "retry" ? .retry : .cancel,
            filter: self.filter(try row.text(2)), state: BulkAction.State(rawValue: try row.text(3)) ?? .failed,
            matched: CappedCount(counted: try row.int(4), stoppedEarly: try row.bool(12)), done: try row.int(5),
            changed: try row.int(6),
            actor: try row.text(7), startedAt: try row.date(8), updatedAt: try row.date(9),
            error: try row.optionalText(10))
    }

    /// A filter as the pairs that a URL would have.
    static func json(_ filter: DeliveryFilter) -> String {
        let pairs = Dictionary(filter.pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(pairs)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// What cannot be read, because a newer program wrote it, is left out.
    private static func filter(_ json: String?) -> DeliveryFilter {
        let pairs = json.flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) } ?? [:]
        return (try? DeliveryFilter(pairs: pairs.map { (name: $0.key, value: $0.value) }, now: Date()))
            ?? DeliveryFilter()
    }
}
