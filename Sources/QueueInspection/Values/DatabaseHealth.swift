package import struct FoundationEssentials.Date

/// What the database page shows: what may slow the queue down, and who is behind it.
package struct DatabaseHealth: Sendable {
    package var readAt: Date
    /// `15.20 (Debian …)`, as the server says.
    package var serverVersion: String
    package var role: ReplicationRole
    /// Whether new transactions may not write.
    package var isReadOnly: Bool
    /// Whether the reader's role may see other roles' sessions (`pg_read_all_stats`): if not, ``transactions`` and
    /// ``horizon`` may lack what matters most, and the page says so.
    package var seesAllSessions: Bool
    /// Open transactions, oldest first; at most 10.
    package var transactions: [OpenTransaction]
    /// Who keeps dead rows from being removed, worst first; at most 10.
    package var horizon: [HorizonHolder]
    package var tables: [TableHealth]
    /// Of all databases of the server, 0 to 1; when it is full, commits fail.
    package var notifyQueueUsage: Double
    package var claim: ClaimPlan
    /// Newest first.
    package var partitions: [Partition]

    package enum ReplicationRole: String, Hashable, Sendable {
        case primary, standby
    }

    package init(
        readAt: Date, serverVersion: String, role: ReplicationRole, isReadOnly: Bool, seesAllSessions: Bool,
        transactions: [OpenTransaction], horizon: [HorizonHolder], tables: [TableHealth], notifyQueueUsage: Double,
        claim: ClaimPlan, partitions: [Partition]
    ) {
        self.readAt = readAt
        self.serverVersion = serverVersion
        self.role = role
        self.isReadOnly = isReadOnly
        self.seesAllSessions = seesAllSessions
        self.transactions = transactions
        self.horizon = horizon
        self.tables = tables
        self.notifyQueueUsage = notifyQueueUsage
        self.claim = claim
        self.partitions = partitions
    }
}

/// A session in a transaction.
package struct OpenTransaction: Hashable, Sendable {
    package var pid: Int
    package var role: String
    package var application: String
    /// `active`, `idle in transaction`, …
    package var state: String
    package var seconds: Double
    /// What it waits for, such as `Lock: transactionid`; nil when it does not.
    package var waitsFor: String?
    /// The beginning of its statement, literals masked.
    package var query: String

    package init(
        pid: Int, role: String, application: String, state: String, seconds: Double, waitsFor: String?, query: String
    ) {
        self.pid = pid
        self.role = role
        self.application = application
        self.state = state
        self.seconds = seconds
        self.waitsFor = waitsFor
        self.query = query
    }
}

/// Somebody who may still want to see old versions of rows.
package struct HorizonHolder: Hashable, Sendable {
    package var kind: Kind
    /// Session: `pid 4711`; otherwise the name of the slot, the standby or the prepared transaction.
    package var name: String
    /// Transactions that have begun since; the more, the more dead rows stay.
    package var transactionsBehind: Int
    /// How long already, in seconds, where that is known.
    package var seconds: Double?
    /// What to do, as a sentence.
    package var fix: String

    package enum Kind: String, Hashable, Sendable {
        case session, slot, standby, prepared
    }

    package init(kind: Kind, name: String, transactionsBehind: Int, seconds: Double?, fix: String) {
        self.kind = kind
        self.name = name
        self.transactionsBehind = transactionsBehind
        self.seconds = seconds
        self.fix = fix
    }
}

/// Vacuum's view of one table of the queue.
package struct TableHealth: Hashable, Sendable {
    package var name: String
    /// Estimates.
    package var liveRows: Int
    package var deadRows: Int
    package var bytes: Int
    package var lastVacuum: Date?
    package var lastAnalyze: Date?

    package init(name: String, liveRows: Int, deadRows: Int, bytes: Int, lastVacuum: Date?, lastAnalyze: Date?) {
        self.name = name
        self.liveRows = liveRows
        self.deadRows = deadRows
        self.bytes = bytes
        self.lastVacuum = lastVacuum
        self.lastAnalyze = lastAnalyze
    }
}

/// How the outbox is read when a worker claims: executed once, without locking anything.
package struct ClaimPlan: Hashable, Sendable {
    /// As EXPLAIN prints it.
    package var lines: [String]
    package var milliseconds: Double
    /// Whether it goes by the index, in order, without a sort.
    package var isGood: Bool

    package init(lines: [String], milliseconds: Double, isGood: Bool) {
        self.lines = lines
        self.milliseconds = milliseconds
        self.isGood = isGood
    }
}

/// A day of the history.
package struct Partition: Hashable, Sendable {
    package var table: String
    package var name: String
    /// The day it holds, midnight UTC.
    package var day: Date
    /// An estimate.
    package var rows: Int
    /// With indexes.
    package var bytes: Int

    package init(table: String, name: String, day: Date, rows: Int, bytes: Int) {
        self.table = table
        self.name = name
        self.day = day
        self.rows = rows
        self.bytes = bytes
    }
}
