internal import Postgres
internal import PushModel

internal import struct FoundationEssentials.Data
internal import class FoundationEssentials.JSONDecoder
internal import struct FoundationEssentials.UUID

/// The part that claiming and re-checking share: from a CTE named `wanted` to the facts of each notification, in the
/// snapshot of the one statement. A row per device; a notification without devices has one row.
enum FactsQuery {
    /// Follows a CTE `wanted (ordinal, notification_id, lane, origin, prior_decision, plans, comes_twice)`, where `plans`
    /// asks for what only the planner needs and `comes_twice` for what was done about the notification before.
    ///
    /// `offset 0` keeps the planner from turning a look-up for each row into a join, for which statistics from when a
    /// table was empty would have it read all of that table.
    ///
    /// At a million rows: notifications and accounts by primary key; the unread count once per account by
    /// `(account_id) where read_at is null and ignored_at is null`; the earlier unread one by
    /// `(account_id, kind, connection_id) where read_at is null`; devices by `(account_id)`.
    static func select(source: SourceSchema, from leading: String, extraColumns: String) -> String {
        """
        rows as materialized (
            select
                w.*, n.id as found_id, n.account_id, coalesce(n.kind, '') as kind, n.connection_id, n.actor_name,
                n.actor_pronoun, \(Self.list("n.categories")) as categories, n.title, n.body, n.translations,
                coalesce(\(Self.moment("n.created_at")), now()) as created_at, \(Self.moment("n.read_at")) as read_at,
                \(Self.moment("n.ignored_at")) as ignored_at,
                w.plans and n.connection_id is not null and k.coalesces and exists (
                    select from \(source.identifier).notifications m
                    where m.account_id = n.account_id and m.kind = n.kind and m.connection_id = n.connection_id
                        and m.read_at is null and m.ignored_at is null and m.id <> n.id
                        and ((m.created_at, m.id) < (n.created_at, n.id) or exists (
                            select from push.fanouts f
                            where f.notification_id = m.id and f.decision = 'fanned_out'
                        ))
                ) as earlier_unread,
                case when w.comes_twice then array(
                    select t.device_id from push.attempts t
                    where t.notification_id = w.notification_id and t.state in ('accepted', 'discarded', 'cancelled')
                    union
                    select p.device_id from push.waiting p where p.notification_id = w.notification_id
                ) end as settled
            from wanted w
            left join lateral (
                select * from \(source.identifier).notifications where id = w.notification_id offset 0
            ) n on true
            left join push.kinds k on k.name = n.kind
        ), unread as materialized (
            select s.account_id, c.unread_count
            from (select distinct account_id from rows where account_id is not null) s
            cross join lateral (
                select count(*) as unread_count from \(source.identifier).notifications u
                where u.account_id = s.account_id and u.read_at is null and u.ignored_at is null
            ) c
        )
        select
            r.notification_id, r.lane, r.origin, r.prior_decision, r.found_id, r.account_id, r.kind, r.connection_id,
            r.actor_name, r.actor_pronoun, r.categories, r.title, r.body, r.translations::text, r.created_at, r.read_at,
            r.ignored_at, a.id, coalesce(a.notify_invitations, true), coalesce(a.notify_contact_updates, true),
            coalesce(a.notify_circle_changes, false), coalesce(r.earlier_unread, false), coalesce(u.unread_count, 0),
            r.settled, d.id, d.platform, d.push_token, coalesce(d.push_target, 'token'), coalesce(d.locale, ''),
            coalesce(d.apns_environment, 'production'), \(Self.moment("d.push_token_updated_at"))\(extraColumns)
        from \(leading)
        left join lateral (
            select * from \(source.identifier).accounts where id = r.account_id offset 0
        ) a on true
        left join unread u on u.account_id = r.account_id
        left join lateral (
            select * from \(source.identifier).devices
            where account_id = r.account_id and push_token is not null and push_token_invalidated_at is null
                and platform in ('ios', 'android')
            offset 0
        ) d on true
        order by r.ordinal
        """
    }

    /// A time that fits a `Date` and can be stored again: `infinity`, years before our era and the like come from no clock,
    /// and must not keep the rest of a batch from being read.
    private static func moment(_ column: String) -> String {
        "case when \(column) is not null then "
            + "least(greatest(\(column), timestamptz '2000-01-01'), now() + interval '1 day') end"
    }

    /// An array of one dimension: PostgreSQL does not hold a column to that.
    private static func list(_ column: String) -> String {
        "case when array_ndims(\(column)) > 1 then array(select unnest(\(column))) else \(column) end"
    }

    /// Reads what `select` returns. Rows of one notification stand together.
    static func decode(_ rows: PostgresRows) throws(PostgresError) -> [NotificationFacts] {
        var all: [NotificationFacts] = []
        for row in rows {
            let id = try row.uuid(0)
            if all.last?.notificationID != id { all.append(try facts(id, row)) }
            if let device = try device(row) { all[all.count - 1].devices.append(device) }
        }
        return all
    }

    private static func facts(_ id: UUID, _ row: PostgresRow) throws(PostgresError) -> NotificationFacts {
        var facts = NotificationFacts(
            notificationID: id, lane: Lane(rawValue: try row.int(1)) ?? .normal,
            origin: OutboxOrigin(rawValue: try row.text(2)) ?? .trigger, notification: nil, account: nil)
        facts.priorDecision = try row.optionalText(3).flatMap(FanoutDecision.init(rawValue:))
        if try row.optionalUUID(4) != nil, let accountID = try row.optionalUUID(5) {
            facts.notification = try notification(id, accountID, row)
        }
        if let accountID = try row.optionalUUID(17) {
            var on: Set<AccountSwitch> = []
            if try row.bool(18) { on.insert(.invitations) }
            if try row.bool(19) { on.insert(.contactUpdates) }
            if try row.bool(20) { on.insert(.circleChanges) }
            facts.account = Account(id: accountID, switchesOn: on)
        }
        facts.earlierUnreadExists = try row.bool(21)
        facts.unreadCount = try row.int(22)
        facts.settledDeviceIDs = Set(try row.optionalUUIDArray(23) ?? [])
        return facts
    }

    private static func notification(
        _ id: UUID, _ accountID: UUID, _ row: PostgresRow
    ) throws(PostgresError) -> Notification {
        Notification(
            id: id, accountID: accountID, kindName: try row.text(6), connectionID: try row.optionalUUID(7),
            actorName: try row.optionalText(8), actorPronoun: Pronoun(column: try row.optionalText(9)),
            categories: try row.isNull(10) ? [] : row.arrayOfOptionalTexts(10).compactMap { $0 },
            title: try row.optionalText(11),
            body: try row.optionalText(12), translations: translations(try row.optionalText(13)),
            createdAt: try row.date(14), readAt: try row.optionalDate(15), ignoredAt: try row.optionalDate(16))
    }

    private static func device(_ row: PostgresRow) throws(PostgresError) -> Device? {
        guard let id = try row.optionalUUID(24), let platform = Platform(rawValue: try row.text(25)) else { return nil }
        return Device(
            id: id, platform: platform, pushToken: try row.optionalText(26),
            pushTarget: PushTarget(rawValue: try row.text(27)) ?? .token, locale: try row.text(28),
            apnsEnvironment: APNSEnvironment(rawValue: try row.text(29)) ?? .production,
            pushTokenUpdatedAt: try row.optionalDate(30))
    }

    /// `{"nl": {"title": "…", "body": "…"}}`. What has another shape is left out: a row must never stop its neighbours.
    private static func translations(_ json: String?) -> [String: Notification.Translation] {
        guard let json, json != "{}" else { return [:] }
        let decoded = try? JSONDecoder().decode([String: LenientTranslation].self, from: Data(json.utf8))
        return (decoded ?? [:]).compactMapValues { entry in
            entry.title == nil && entry.body == nil
                ? nil : Notification.Translation(title: entry.title, body: entry.body)
        }
    }

    private struct LenientTranslation: Decodable {
        var title: String?
        var body: String?

        enum CodingKeys: CodingKey { case title, body }

        init(from decoder: any Decoder) throws {
            guard let fields = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            self.title = try? fields.decodeIfPresent(String.self, forKey: .title)
            self.body = try? fields.decodeIfPresent(String.self, forKey: .body)
        }
    }
}
