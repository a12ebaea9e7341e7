extension DatabaseHealth {
    package var json: JSONNode {
        .object([
            ("read_at", .moment(self.readAt)), ("server_version", .text(self.serverVersion)),
            ("role", .text(self.role.rawValue)), ("read_only", .bool(self.isReadOnly)),
            ("sees_all_sessions", .bool(self.seesAllSessions)), ("notify_queue_usage", .number(self.notifyQueueUsage)),
            ("transactions", .array(self.transactions.map(\.json))), ("horizon", .array(self.horizon.map(\.json))),
            ("tables", .array(self.tables.map(\.json))), ("claim", self.claim.json),
            ("partitions", .array(self.partitions.map(\.json))),
        ])
    }
}

extension OpenTransaction {
    package var json: JSONNode {
        .object([
            ("pid", .integer(self.pid)), ("role", .text(self.role)), ("application", .text(self.application)),
            ("state", .text(self.state)), ("seconds", .number(self.seconds)), ("waits_for", .optional(self.waitsFor)),
            ("query", .text(self.query)),
        ])
    }
}

extension HorizonHolder {
    package var json: JSONNode {
        .object([
            ("kind", .text(self.kind.rawValue)), ("name", .text(self.name)),
            ("transactions_behind", .integer(self.transactionsBehind)), ("seconds", .optional(self.seconds)),
            ("fix", .text(self.fix)),
        ])
    }
}

extension TableHealth {
    package var json: JSONNode {
        .object([
            ("name", .text(self.name)), ("live_rows", .integer(self.liveRows)), ("dead_rows", .integer(self.deadRows)),
            ("bytes", .integer(self.bytes)), ("last_vacuum", .moment(self.lastVacuum)),
            ("last_analyze", .moment(self.lastAnalyze)),
        ])
    }
}

extension ClaimPlan {
    package var json: JSONNode {
        .object([
            ("good", .bool(self.isGood)), ("milliseconds", .number(self.milliseconds)),
            ("lines", .array(self.lines.map { .text($0) })),
        ])
    }
}

extension Partition {
    package var json: JSONNode {
        .object([
            ("table", .text(self.table)), ("name", .text(self.name)), ("day", .moment(self.day)),
            ("rows", .integer(self.rows)), ("bytes", .integer(self.bytes)),
        ])
    }
}
