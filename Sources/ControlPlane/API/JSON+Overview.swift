import Delivery
import PushModel
import QueueInspection

// The state of the queue and of the database, as JSON.

extension JSON {
    init(_ overview: Overview) {
        let lanes = overview.lanes.map { lane -> JSON in
            [
                "lane": .string(lane.lane.label), "count": JSON(lane.count),
                "oldest_seconds": JSON(seconds: lane.oldestSeconds),
            ]
        }
        let endpoints = overview.endpoints.map { depth -> JSON in
            [
                "endpoint": .string(depth.endpoint.rawValue), "count": JSON(depth.count), "due": JSON(depth.due),
                "oldest_due_seconds": JSON(seconds: depth.oldestDueSeconds),
            ]
        }
        let minutes = overview.series.minutes.map { counts -> JSON in
            [
                "minute": JSON(counts.minute), "decisions": .int(counts.decisions), "accepted": .int(counts.accepted),
                "discarded": .int(counts.discarded), "cancelled": .int(counts.cancelled),
                "retries": .int(counts.retries),
            ]
        }
        let latency = overview.latency.map { sample -> JSON in
            [
                "count": .int(sample.count), "median_seconds": .double(sample.median),
                "p95_seconds": .double(sample.p95), "longest_seconds": .double(sample.longest),
            ]
        }
        self = [
            "read_at": JSON(overview.readAt), "lanes": .array(lanes), "endpoints": .array(endpoints),
            "running": .int(overview.running), "oldest_waiting_seconds": JSON(seconds: overview.oldestWaitingSeconds),
            "minutes": .array(minutes), "latency": latency ?? .null,
            "providers": .array(overview.providers.map(JSON.init)), "workers": .array(overview.workers.map(JSON.init)),
        ]
    }

    init(_ provider: ProviderState) {
        let pause = provider.pause.map { pause -> JSON in
            let by: String =
                switch pause.by {
                case .worker: "worker"
                case .person(let name): name
                }
            return [
                "until": JSON(pause.until), "by": .string(by), "reason": .string(pause.reason), "fix": JSON(pause.fix),
            ]
        }
        self = [
            "endpoint": .string(provider.endpoint.rawValue), "paused": .bool(provider.isPaused),
            "pause": pause ?? .null, "changed_at": JSON(provider.changedAt),
        ]
    }

    init(_ worker: WorkerState) {
        self = [
            "id": JSON(worker.id), "name": .string(worker.name), "version": .string(worker.version),
            "condition": .string(worker.condition.rawValue), "started_at": JSON(worker.startedAt),
            "heartbeat_at": JSON(worker.heartbeatAt), "stopped_at": JSON(worker.stoppedAt),
            "listening": .bool(worker.isListening), "running": .int(worker.running),
        ]
    }

    // MARK: - The database

    init(_ health: DatabaseHealth) {
        self = [
            "read_at": JSON(health.readAt), "server_version": .string(health.serverVersion),
            "role": .string(health.role.rawValue), "read_only": .bool(health.isReadOnly),
            "sees_all_sessions": .bool(health.seesAllSessions),
            "transactions": .array(health.transactions.map(JSON.init)),
            "horizon": .array(health.horizon.map(JSON.init)), "tables": .array(health.tables.map(JSON.init)),
            "notify_queue_usage": .double(health.notifyQueueUsage), "claim": JSON(health.claim),
            "partitions": .array(health.partitions.map(JSON.init)),
        ]
    }

    init(_ transaction: OpenTransaction) {
        self = [
            "pid": .int(transaction.pid), "role": .string(transaction.role),
            "application": .string(transaction.application), "state": .string(transaction.state),
            "seconds": .double(transaction.seconds), "waits_for": JSON(transaction.waitsFor),
            "query": .string(transaction.query),
        ]
    }

    init(_ holder: HorizonHolder) {
        self = [
            "kind": .string(holder.kind.rawValue), "name": .string(holder.name),
            "transactions_behind": .int(holder.transactionsBehind), "seconds": JSON(seconds: holder.seconds),
            "fix": .string(holder.fix),
        ]
    }

    init(_ table: TableHealth) {
        self = [
            "name": .string(table.name), "live_rows": .int(table.liveRows), "dead_rows": .int(table.deadRows),
            "bytes": .int(table.bytes), "last_vacuum": JSON(table.lastVacuum), "last_analyze": JSON(table.lastAnalyze),
        ]
    }

    init(_ plan: ClaimPlan) {
        self = [
            "good": .bool(plan.isGood), "milliseconds": .double(plan.milliseconds),
            "plan": .array(plan.lines.map(JSON.string)),
        ]
    }

    init(_ partition: Partition) {
        self = [
            "table": .string(partition.table), "name": .string(partition.name), "day": JSON(partition.day),
            "rows": .int(partition.rows), "bytes": .int(partition.bytes),
        ]
    }
}
