internal import Postgres
internal import PushModel

internal import struct FoundationEssentials.UUID

/// One page of a search, as one statement.
///
/// Two ways lead to it. With an account or a notification, its decisions are read, newest first, and the state of each
/// delivery is looked up. Without, three lists are merged, each read by its own index from where the last page ended:
/// what ended, what waits, what runs. Either way at most ``mostScanned`` rows are looked at; if the page is not full by
/// then, the statement also answers where it stopped (the edge).
struct DeliverySearch {
    var filter: DeliveryFilter
    var cursor: DeliveryCursor?
    var limit: Int
    var mostScanned: Int

    /// Decisions that are read for a page of an account.
    private static let mostDecisions = 500

    private var isOlder: Bool { self.cursor?.direction != .newer }
    private var order: String { self.isOlder ? "desc" : "asc" }
    private var isByDecision: Bool { self.filter.account != nil || self.filter.notification != nil }
    /// One more than a page, to know whether there is another.
    private var wanted: String { String(self.limit + 1) }
    private var scan: Int {
        guard self.isByDecision else { return self.mostScanned }
        return max(Self.mostDecisions, self.mostScanned / 10)
    }

    /// Rows of the page with ``DeliverySQL/columns`` and the time's microseconds, then rows with the edge.
    var query: PostgresQuery {
        let edgeColumns = "null::bigint as edge_microseconds, null::uuid as edge_id"
        let empty =
            "null::uuid, null::uuid, null::uuid, null::uuid, null::text, null::text, null::text, null::text, "
            + "null::integer, null::timestamptz, null::timestamptz, null::timestamptz, null::bigint"
        return self.statement(
            """
            (select \(DeliverySQL.columns), \(DeliverySQL.microseconds("time")), \(edgeColumns) from page
            order by time \(self.order), id \(self.order))
            union all
            select \(empty), \(DeliverySQL.microseconds("e.time")), e.id from edge e
            """)
    }

    /// The number of rows, at most one more than the limit, and whether there is an edge.
    var countQuery: PostgresQuery {
        self.statement("select (select count(*) from page), exists (select from edge)")
    }

    /// The parameters stand at the head, so that the text behind may name them as often as it likes: they are known to the
    /// planner as values, and a condition that is not asked for is not in the text.
    private func statement(_ tail: String) -> PostgresQuery {
        let filter = self.filter
        return """
            with given as (
                select \(filter.account)::uuid, \(filter.notification)::uuid, \(filter.device)::uuid, \(filter.kind)::text,
                    \(filter.platform?.rawValue)::text, \(filter.reason)::text, \(filter.since)::timestamptz,
                    \(filter.until)::timestamptz, \(self.cursor?.microseconds)::bigint, \(self.cursor?.id)::uuid
            ), \(unescaped: self.isByDecision ? self.byDecision : self.byTime)
            \(unescaped: tail)
            """
    }

    private enum Parameter {
        static let account = "$1"
        static let notification = "$2"
        static let device = "$3"
        static let kind = "$4"
        static let platform = "$5"
        static let reason = "$6"
        static let since = "$7"
        static let until = "$8"
        static let position = "(timestamptz 'epoch' + $9 * interval '1 microsecond')"
        static let id = "$10"
    }

    // MARK: - Merged by time

    private var byTime: String {
        var lists: [String] = []
        var edges: [String] = []
        if self.filter.state?.isFinal ?? true {
            lists.append(self.ended)
            edges.append(self.edge(of: "push.attempts", time: "finished_at", where: self.endedCondition))
        }
        if !(self.filter.state?.isFinal ?? false) {
            lists += [self.waits, self.held]
            edges.append(self.edge(of: "push.waiting", time: "parked_at", where: "true"))
        }
        return """
            page as materialized (
                select * from (
                    \(lists.map { "(\($0))" }.joined(separator: "\nunion all\n"))
                ) u
                order by time \(self.order), id \(self.order)
                limit \(self.wanted)
            ), edge as materialized (
                \(edges.joined(separator: "\nunion all\n"))
            )
            """
    }

    /// Inside the bound stands only what the index is for; all else is looked at outside, so that the bound counts rows
    /// that were read, not rows that match.
    private var endedCondition: String {
        switch self.filter.state {
        case .discarded, .cancelled: "t.state in ('discarded', 'cancelled')"
        // What was accepted has no reason.
        case nil where self.filter.reason != nil: "t.state in ('discarded', 'cancelled')"
        default: DeliverySQL.isFinal
        }
    }

    private var ended: String {
        """
        select \(DeliverySQL.endedColumns)
        from (\(self.bounded("push.attempts", time: "finished_at", where: self.endedCondition))) t
        where \(self.matches("t", state: "t.state")) and not (\(DeliverySQL.isSuperseded))
        order by t.finished_at \(self.order), t.delivery_id \(self.order)
        limit \(self.wanted)
        """
    }

    private var waits: String {
        """
        select \(DeliverySQL.waitingColumns)
        from (\(self.bounded("push.waiting", time: "parked_at", where: "true"))) w
        where \(self.matches("w", state: DeliverySQL.waitingState))
        order by w.parked_at \(self.order), w.delivery_id \(self.order)
        limit \(self.wanted)
        """
    }

    private var held: String {
        """
        select h.* from (\(DeliverySQL.held)) h
        where \(self.matches("h", state: "h.state")) and \(self.window("h.time", "h.id"))
        order by h.time \(self.order), h.id \(self.order)
        limit \(self.wanted)
        """
    }

    private func bounded(_ table: String, time: String, where condition: String) -> String {
        """
        select * from \(table) t
        where \(condition) and \(self.window("t.\(time)", "t.delivery_id"))
        order by t.\(time) \(self.order), t.delivery_id \(self.order)
        limit \(self.scan)
        """
    }

    /// The last row that was looked at, if that many were there and the page is not full.
    private func edge(of table: String, time: String, where condition: String) -> String {
        """
        (select t.\(time) as time, t.delivery_id as id from \(table) t
        where (select count(*) from page) < \(self.wanted) and \(condition) and \(self.window("t.\(time)", "t.delivery_id"))
        order by t.\(time) \(self.order), t.delivery_id \(self.order)
        offset \(self.scan - 1) limit 1)
        """
    }

    private func window(_ time: String, _ id: String) -> String {
        var conditions = self.span(time)
        if self.cursor != nil {
            let sign = self.isOlder ? "<" : ">"
            // The first for the partitions, which a comparison of rows does not rule out.
            conditions.append("\(time) \(sign)= \(Parameter.position)")
            conditions.append("(\(time), \(id)) \(sign) (\(Parameter.position), \(Parameter.id))")
        }
        return conditions.isEmpty ? "true" : conditions.joined(separator: " and ")
    }

    private func span(_ time: String) -> [String] {
        var conditions: [String] = []
        if self.filter.since != nil { conditions.append("\(time) >= \(Parameter.since)") }
        if self.filter.until != nil { conditions.append("\(time) < \(Parameter.until)") }
        return conditions
    }

    private func matches(_ row: String, state: String) -> String {
        var conditions: [String] = []
        if self.filter.device != nil { conditions.append("\(row).device_id = \(Parameter.device)") }
        if self.filter.kind != nil { conditions.append("\(row).kind = \(Parameter.kind)") }
        if self.filter.platform != nil { conditions.append("\(row).platform = \(Parameter.platform)") }
        if self.filter.reason != nil { conditions.append("\(row).reason = \(Parameter.reason)") }
        // A word of our own list, so it may stand in the text.
        if let wanted = self.filter.state { conditions.append("\(state) = '\(wanted.rawValue)'") }
        return conditions.isEmpty ? "true" : conditions.joined(separator: " and ")
    }

    // MARK: - By decision

    /// With ties: decisions of one flush have the same time, and the edge must not fall between them.
    private var byDecision: String {
        var conditions = self.span("f.decided_at")
        if self.filter.account != nil { conditions.append("f.account_id = \(Parameter.account)") }
        if self.filter.notification != nil { conditions.append("f.notification_id = \(Parameter.notification)") }
        if self.cursor != nil {
            conditions.append("f.decided_at \(self.isOlder ? "<=" : ">=") \(Parameter.position)")
        }
        let device = self.filter.device == nil ? "true" : "d.device_id = \(Parameter.device)"
        return """
            decisions as materialized (
                select f.* from push.fanouts f
                where \(conditions.joined(separator: " and "))
                order by f.decided_at \(self.order)
                fetch first \(self.scan) rows with ties
            ), deliveries as materialized (
                select
                    d.delivery_id, f.notification_id, f.account_id, d.device_id, f.kind, f.decided_at
                from decisions f
                cross join lateral unnest(f.delivery_ids, f.device_ids) as d (delivery_id, device_id)
                where \(device) and \(self.window("f.decided_at", "d.delivery_id"))
                order by f.decided_at \(self.order), d.delivery_id \(self.order)
            ), found as (
                select
                    d.delivery_id as id, d.notification_id, d.account_id, d.device_id,
                    coalesce(w.platform, a.platform) as platform, d.kind,
                    case
                        when w.delivery_id is not null then \(DeliverySQL.waitingState)
                        when a.state in \(DeliverySQL.finals) then a.state
                        when exists (select from push.outbox o where o.notification_id = d.notification_id offset 0)
                            then 'available'
                        else 'running'
                    end as state,
                    coalesce(w.reason, a.reason) as reason, coalesce(w.attempts, a.number, 0)::integer as attempt,
                    w.scheduled_at,
                    case when w.delivery_id is null and a.state in \(DeliverySQL.finals) then a.finished_at end
                        as finished_at,
                    d.decided_at as time
                from deliveries d
                left join lateral (
                    select * from push.waiting w where w.delivery_id = d.delivery_id offset 0
                ) w on true
                left join lateral \(DeliverySQL.deciding("d.delivery_id", since: "d.decided_at")) a on true
            ), page as materialized (
                select * from found r where \(self.matches("r", state: "r.state"))
                order by time \(self.order), id \(self.order)
                limit \(self.wanted)
            ), edge as materialized (
                select
                    \(self.isOlder ? "min" : "max")(decided_at) as time,
                    '\(self.isOlder ? "00000000-0000-0000-0000-000000000000" : "ffffffff-ffff-ffff-ffff-ffffffffffff")'::uuid
                        as id
                from decisions
                where (select count(*) from page) < \(self.wanted)
                having count(*) >= \(self.scan)
            )
            """
    }

    // MARK: - Answers

    func page(_ rows: PostgresRows) throws(PostgresError) -> DeliveryPage {
        var found = try DeliverySQL.decode(rows.filter { (try? $0.isNull(0)) == false })
        var edge: DeliveryCursor?
        for row in rows where try row.isNull(0) {
            let place = DeliveryCursor(
                direction: self.isOlder ? .older : .newer, microseconds: try row.int(13), id: try row.uuid(14))
            // Of two lists that were cut, the one that was cut first.
            if edge.map({ self.comes(place.microseconds, place.id, before: $0) }) ?? true { edge = place }
        }
        if let edge { found.removeAll { !self.comes($0.microseconds, $0.row.id, before: edge, orAt: true) } }
        let isMore = found.count > self.limit
        if isMore { found.removeLast(found.count - self.limit) }

        let onward = isMore ? found.last.map { self.place($0, self.isOlder ? .older : .newer) } : edge
        var back: DeliveryCursor?
        if let cursor {
            back =
                found.first.map { self.place($0, self.isOlder ? .newer : .older) }
                ?? DeliveryCursor(
                    direction: self.isOlder ? .newer : .older, microseconds: cursor.microseconds, id: cursor.id)
        }
        if !self.isOlder { found.reverse() }
        return DeliveryPage(
            rows: found.map(\.row), next: self.isOlder ? onward : back, previous: self.isOlder ? back : onward,
            stoppedEarly: edge != nil && !isMore)
    }

    func count(_ rows: PostgresRows) throws(PostgresError) -> CappedCount {
        let row = try rows.single()
        return CappedCount(counted: try row.int(0), stoppedEarly: try row.bool(1))
    }

    private func place(_ found: DeliverySQL.Found, _ direction: DeliveryCursor.Direction) -> DeliveryCursor {
        DeliveryCursor(direction: direction, microseconds: found.microseconds, id: found.row.id)
    }

    /// In the order of the list. Ids as PostgreSQL orders them, which is the order of their text.
    private func comes(_ microseconds: Int, _ id: UUID, before place: DeliveryCursor, orAt: Bool = false) -> Bool {
        let left = (microseconds, id.text)
        let right = (place.microseconds, place.id.text)
        if left == right { return orAt }
        return self.isOlder ? left > right : left < right
    }
}
