internal import Postgres
internal import PushModel

internal import struct FoundationEssentials.UUID

/// What every action writes.
enum AuditWriting {
    /// Longer notes are cut: they come from people.
    private static let longestNote = 500

    static func entry(
        id: UUID, actor: String, action: AuditEntry.Action, target: AuditEntry.Target, matched: Int, changed: Int,
        note: String?
    ) -> PostgresQuery {
        let kind: String
        var targetID: String?
        var filter: String?
        switch target {
        case .delivery(let id): (kind, targetID) = ("delivery", id.text)
        case .notification(let id): (kind, targetID) = ("notification", id.text)
        case .provider(let name): (kind, targetID) = ("provider", name)
        case .filter(let meant, let bulk): (kind, targetID, filter) = ("filter", bulk.text, AuditSQL.json(meant))
        case .history: kind = "history"
        }
        return """
            insert into push.audit (id, actor, action, target_kind, target_id, filter, matched, changed, note)
            values (\(id)::uuid, \(Self.storable(actor)), \(action.rawValue), \(kind), \(targetID), \(filter)::jsonb,
                \(matched)::integer, \(changed)::integer, \(note.map(Self.storable)))
            """
    }

    /// Workers look at what is due.
    static let wake: PostgresQuery = "notify push_outbox"

    /// PostgreSQL stores every character but U+0000.
    static func storable(_ text: String) -> String {
        String(String(decoding: text.utf8.filter { $0 != 0 }, as: UTF8.self).prefix(Self.longestNote))
    }
}
