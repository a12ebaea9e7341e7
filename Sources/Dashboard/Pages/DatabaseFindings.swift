import QueueInspection

import struct FoundationEssentials.Date

/// From numbers of the database to sentences, with the thresholds at which they begin to matter.
struct DatabaseFindings {
    /// An open transaction holds back vacuum; the hot tables grow with each minute of it.
    static let longTransaction = 60.0
    static let veryLongTransaction = 900.0
    /// Commits that notify fail at 100 %.
    static let busyNotifyQueue = 0.05
    static let fullNotifyQueue = 0.5
    /// Of a table with this many dead rows or more, dead rows are told as a share.
    static let manyDeadRows = 10_000
    static let slowClaim = 50.0
    /// Transactions whose dead rows somebody keeps alive.
    static let farBehind = 100_000

    var health: DatabaseHealth

    struct Finding {
        var tone: Parts.Tone
        var sentence: String
        var advice: String?
    }

    /// Everything that is checked, good or bad, in the order of the page.
    var all: [Finding] {
        [self.role, self.transactions, self.horizon, self.dead, self.notify, self.claim, self.partitions]
            .compactMap { $0 }
    }

    var role: Finding {
        if self.health.role == .standby {
            return Finding(
                tone: .bad, sentence: "This server is a standby: nothing can be written to it.",
                advice:
                    "After a failover, let DATABASE_URL name every host; libpq finds the primary with target_session_attrs=read-write."
            )
        }
        if self.health.isReadOnly {
            return Finding(
                tone: .bad, sentence: "New transactions may only read.",
                advice:
                    "A full disk or a maintenance mode does that: look at default_transaction_read_only and the provider's notices."
            )
        }
        return Finding(tone: .good, sentence: "The server is the primary and takes writes.", advice: nil)
    }

    var transactions: Finding {
        guard let oldest = self.health.transactions.first else {
            guard self.health.seesAllSessions else {
                return Finding(
                    tone: .still, sentence: "How long other roles' transactions have been open cannot be seen.",
                    advice: self.blindness)
            }
            return Finding(tone: .good, sentence: "No transaction is open but this one.", advice: self.blindness)
        }
        let age = Format.duration(seconds: oldest.seconds)
        let who =
            "pid \(oldest.pid) (\(oldest.application.isEmpty ? "no application name" : oldest.application), \(oldest.role))"
        if oldest.seconds < Self.longTransaction {
            return Finding(
                tone: .good, sentence: "The oldest transaction is \(age) old. Up to a minute is fine.",
                advice: self.blindness)
        }
        let isIdle = oldest.state.hasPrefix("idle in transaction")
        return Finding(
            tone: oldest.seconds < Self.veryLongTransaction ? .warn : .bad,
            sentence: "\(who) has had a transaction open for \(age)\(isIdle ? ", and does nothing in it" : "").",
            advice:
                "While it lasts, dead rows of every table stay. If nobody needs it: select pg_terminate_backend(\(oldest.pid));"
        )
    }

    /// Of sessions only where their transactions cannot be seen: else they stand among those.
    var horizon: Finding? {
        guard let worst = self.health.horizon.first, worst.kind != .session || !self.health.seesAllSessions,
            worst.transactionsBehind > Self.farBehind
        else { return nil }
        let kind =
            switch worst.kind {
            case .session: "Session"
            case .slot: "Replication slot"
            case .standby: "Standby"
            case .prepared: "Prepared transaction"
            }
        return Finding(
            tone: worst.transactionsBehind > 1_000_000 ? .bad : .warn,
            sentence:
                "\(kind) \(worst.name) is \(Format.number(worst.transactionsBehind)) transactions behind and keeps dead rows alive.",
            advice: worst.fix)
    }

    var dead: Finding {
        let worst = self.health.tables.filter { $0.deadRows >= Self.manyDeadRows }.max { $0.deadRows < $1.deadRows }
        guard let worst else {
            return Finding(
                tone: .good,
                sentence:
                    "No table of the queue holds many dead rows. Below \(Format.number(Self.manyDeadRows)) they cost nothing.",
                advice: nil)
        }
        return Finding(
            tone: worst.deadRows >= 10 * Self.manyDeadRows ? .bad : .warn,
            sentence: "\(worst.name) holds about \(Format.number(worst.deadRows)) dead rows.",
            advice:
                "Autovacuum should clear them within a minute. If they stay, an old transaction holds them; if none is open: vacuum push.\(worst.name);"
        )
    }

    var notify: Finding {
        let usage = Format.percent(self.health.notifyQueueUsage)
        if self.health.notifyQueueUsage < Self.busyNotifyQueue {
            return Finding(
                tone: .good, sentence: "The queue of NOTIFY is \(usage) full. Up to 5 % is fine.", advice: nil)
        }
        return Finding(
            tone: self.health.notifyQueueUsage < Self.fullNotifyQueue ? .warn : .bad,
            sentence: "The queue of NOTIFY is \(usage) full; when it is full, commits fail.",
            advice: "Some session that listens sits in an open transaction. End the oldest one.")
    }

    var claim: Finding {
        let claim = self.health.claim
        let time = Format.duration(seconds: claim.milliseconds / 1000)
        if !claim.isGood {
            return Finding(
                tone: .warn, sentence: "A claim takes \(time) and does not go by its index.",
                advice:
                    "The planner's numbers are old, or the index is gone: analyze push.outbox; then push-fanout migrate --status."
            )
        }
        return Finding(
            tone: claim.milliseconds < Self.slowClaim ? .good : .warn,
            sentence: "A claim reads its batch in \(time), by the index. Up to 50 ms is fine.",
            advice: claim.milliseconds < Self.slowClaim ? nil : "Dead rows at the front of the outbox do that.")
    }

    /// Workers make the partitions of today and of three days ahead.
    var partitions: Finding {
        let ahead = self.health.partitions.count { $0.day > self.health.readAt }
        let hasToday = self.health.partitions.contains {
            $0.day <= self.health.readAt && self.health.readAt < $0.day.addingTimeInterval(86_400)
        }
        guard hasToday else {
            return Finding(
                tone: .bad, sentence: "The partitions of today are missing.",
                advice: "A running worker makes them at once; by hand: select push.ensure_partitions();")
        }
        return ahead > 0
            ? Finding(tone: .good, sentence: "The partitions of today and of the days ahead are there.", advice: nil)
            : Finding(
                tone: .warn, sentence: "No partition is made for tomorrow.",
                advice: "Workers make them every hour; is one running? By hand: select push.ensure_partitions();")
    }

    private var blindness: String? {
        self.health.seesAllSessions
            ? nil : "Only sessions of our own role can be seen: grant pg_read_all_stats to it to see all."
    }
}
