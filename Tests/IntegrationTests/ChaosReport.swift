import FoundationEssentials
import Postgres
import PushModel
import TestSupport

/// What became of a run of ``Chaos``: the counts, and what did not hold.
struct ChaosReport {
    let seed: UInt64
    var seconds = 0
    var drained = Duration.zero
    var broken: [String] = []

    private var rows = 0
    private var expected = 0
    private var sends = 0
    private var duplicates = 0
    private var afterUnknown = 0
    private var afterTrouble = 0
    private var unrecorded = 0
    private var coalesced = 0
    private var events: [Chaos.Event: Int] = [:]

    /// How long an outcome may wait to be written: a silent network is noticed after 13 s, and the attempt to connect
    /// that follows may take 10 s.
    private static let longestUnrecorded: TimeInterval = 25
    /// From what keeps a worker from extending its leases to a send under one that is lost: the lease, and the time until
    /// a silent network is noticed.
    private static let longestLapse: TimeInterval = 20

    init(seed: UInt64) {
        self.seed = seed
    }

    var summary: String {
        let events = Chaos.Event.allCases.map { "\($0.rawValue) \(self.events[$0] ?? 0)" }.joined(separator: ", ")
        let verdict = self.broken.isEmpty ? "held" : "BROKEN (\(self.broken.count))"
        return """
            chaos: seed \(self.seed), \(self.seconds) s and \(self.drained.components.seconds) s to drain; \(self.rows) rows \
            (\(self.coalesced) coalesced), \(self.expected) pushes to healthy phones, \(self.sends) sends, \
            \(self.duplicates) accepted twice (\(self.afterUnknown) after an unknown or retried outcome, \
            \(self.afterTrouble) after a crash), \(self.unrecorded) sends unrecorded; \(events): \(verdict)
            """
    }

    mutating func fill(_ chaos: Chaos, _ installation: Installation) async throws {
        let happened = chaos.happened
        self.events = happened.reduce(into: [:]) { $0[$1.event, default: 0] += 1 }
        // A restart is noted at its beginning and at its end.
        self.events[.restartDatabase] = (self.events[.restartDatabase] ?? 0) / 2
        let ledger = chaos.ledger.all
        try await self.checkRows(chaos, installation)
        try await self.checkArrivals(chaos, installation, ledger)
        try await self.checkDuplicates(happened, installation, ledger)
    }

    /// Every row is there and decided, and what is coalesced has one that says the same and was pushed.
    private mutating func checkRows(_ chaos: Chaos, _ installation: Installation) async throws {
        self.rows = chaos.traffic.written
        let stored = try await installation.number("select count(*) from notifications")
        if stored != self.rows { self.broken.append("\(self.rows) rows were written, \(stored) are there") }
        self.coalesced = try await installation.number(
            "select count(*) from push.fanouts where decision = 'coalesced'")
        let wrong = try await installation.admin.query(
            """
            select n.kind || ' ' || coalesce(f.decision, 'undecided') || ' ' || count(*)
            from notifications n left join push.fanouts f on f.notification_id = n.id
            where not case coalesce(f.decision, '')
                when 'fanned_out' then n.kind <> 'circle_changed'
                when 'switched_off' then n.kind = 'circle_changed'
                when 'coalesced' then n.kind = 'contact_updated' and exists (
                    select from notifications m join push.fanouts g on g.notification_id = m.id
                    where m.account_id = n.account_id and m.kind = n.kind and m.connection_id = n.connection_id
                        and g.decision = 'fanned_out')
                else false end
            group by n.kind, f.decision
            """, deadline: .seconds(60))
        for row in wrong { self.broken.append("wrong decision: \(try row.text(0))") }
    }

    /// What should reach a phone was accepted at least once, and the queue says so.
    private mutating func checkArrivals(
        _ chaos: Chaos, _ installation: Installation, _ ledger: [String: ChaosLedger.Entry]
    ) async throws {
        let dead = chaos.traffic.deadTokens
        let wanted = try await installation.admin.query(
            """
            select d.push_token, f.notification_id, v.state, v.reason
            from push.fanouts f
            join devices d on d.account_id = f.account_id
            left join push.deliveries v on v.notification_id = f.notification_id and v.device_id = d.id
            where f.decision = 'fanned_out'
            """, deadline: .seconds(60))
        var lost = 0
        for row in wanted {
            let token = try row.text(0)
            guard !dead.contains(token) else { continue }
            self.expected += 1
            let key = "\(token) \(try row.uuid(1).text)"
            let state = "\(try row.optionalText(2) ?? "no delivery") \(try row.optionalText(3) ?? "")"
            if ledger[key]?.accepted ?? 0 == 0 {
                lost += 1
                if lost <= 10 { self.broken.append("never accepted: \(key), \(state)") }
            } else if !state.hasPrefix("accepted") {
                lost += 1
                if lost <= 10 { self.broken.append("accepted but \(state): \(key)") }
            }
        }
        if lost > 10 { self.broken.append("and \(lost - 10) more like these") }
        if self.expected == 0 { self.broken.append("nothing was to be pushed") }
        let marked = try await installation.admin.query(
            "select push_token, push_token_invalid_reason from devices where push_token_invalidated_at is not null"
        ).map { row in (try row.text(0), try row.text(1)) }
        for (token, reason) in marked where !dead.contains(token) {
            self.broken.append("a healthy token is marked dead: \(token) \(reason)")
        }
    }

    /// A duplicate has the same ids, and a reason: an outcome that was not known, or trouble between its sends.
    private mutating func checkDuplicates(
        _ happened: [Chaos.Happened], _ installation: Installation, _ ledger: [String: ChaosLedger.Entry]
    ) async throws {
        var tries: [String: (all: Int, open: Int)] = [:]
        for row in try await installation.admin.query(
            """
            select d.push_token || ' ' || a.notification_id, count(*), count(*) filter (where a.outcome in ('unknown', 'retry'))
            from push.attempts a join devices d on d.id = a.device_id
            where a.number > 0 and a.outcome not in ('cancelled', 'discarded', 'refused')
            group by 1
            """, deadline: .seconds(60))
        {
            tries[try row.text(0)] = (try row.int(1), try row.int(2))
        }
        for (key, entry) in ledger {
            self.sends += entry.sends.count
            if entry.ids.count > 1 { self.broken.append("\(key) came with different ids: \(entry.ids)") }
            let recorded = tries[key] ?? (0, 0)
            guard let first = entry.sends.first?.at, let last = entry.sends.last?.at else { continue }
            let missing = entry.sends.count - recorded.all
            if missing > 0 {
                self.unrecorded += missing
                // Outcomes that cannot be written are kept; their worker may be killed long after the send.
                let isExplained = happened.contains { event in
                    event.event == .killWorker && event.at >= first - 1 && event.at <= last + Self.longestUnrecorded
                }
                if !isExplained {
                    self.broken.append("\(missing) sends of \(key) are not recorded, and no worker was killed")
                }
            }
            guard entry.accepted > 1 else { continue }
            self.duplicates += entry.accepted - 1
            let unexplained = max(0, entry.accepted - 1 - recorded.open)
            self.afterUnknown += entry.accepted - 1 - unexplained
            self.afterTrouble += unexplained
            // A lease ends a while after what kept its worker from extending it; more than one may, and each is sent again.
            let trouble = happened.filter {
                $0.event.explainsDuplicates && $0.at >= first - Self.longestLapse && $0.at <= last + 1
            }
            if unexplained > 0, trouble.isEmpty {
                let times = entry.sends.map { "\($0.at.timeIntervalSince(first))" }
                self.broken.append(
                    "\(key) was accepted \(entry.accepted) times for no reason, at \(times); tries \(recorded)")
            }
        }
    }
}
