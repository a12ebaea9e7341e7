internal import PushModel

extension Overview {
    package var json: JSONNode {
        .object([
            ("read_at", .moment(self.readAt)), ("running", .integer(self.running)),
            ("oldest_waiting_seconds", .optional(self.oldestWaitingSeconds)),
            ("lanes", .array(self.lanes.map(\.json))), ("endpoints", .array(self.endpoints.map(\.json))),
            ("providers", .array(self.providers.map(\.json))), ("workers", .array(self.workers.map(\.json))),
            ("latency", self.latency?.json ?? .null), ("minutes", .array(self.series.minutes.map(\.json))),
        ])
    }
}

extension CappedCount {
    /// A number, and beside it whether there are more.
    fileprivate func fields(_ name: String) -> [(name: String, value: JSONNode)] {
        [(name, .integer(self.value)), (name + "_capped", .bool(self.isCapped))]
    }
}

extension LaneDepth {
    package var json: JSONNode {
        .object(
            [("lane", .text("\(self.lane)"))] + self.count.fields("count")
                + [("oldest_seconds", .optional(self.oldestSeconds))])
    }
}

extension EndpointDepth {
    package var json: JSONNode {
        .object(
            [("endpoint", .text(self.endpoint.rawValue))] + self.count.fields("count") + self.due.fields("due")
                + [("oldest_due_seconds", .optional(self.oldestDueSeconds))])
    }
}

extension ProviderState {
    package var json: JSONNode {
        var by: String?
        switch self.pause?.by {
        case .worker?: by = "worker"
        case .person(let name)?: by = name
        case nil: break
        }
        return .object([
            ("endpoint", .text(self.endpoint.rawValue)), ("paused", .bool(self.isPaused)),
            ("until", .moment(self.pause?.until)), ("by", .optional(by)), ("reason", .optional(self.pause?.reason)),
            ("fix", .optional(self.pause?.fix)), ("changed_at", .moment(self.changedAt)),
        ])
    }
}

extension WorkerState {
    package var json: JSONNode {
        .object([
            ("id", .id(self.id)), ("name", .text(self.name)), ("version", .text(self.version)),
            ("condition", .text(self.condition.rawValue)), ("listening", .bool(self.isListening)),
            ("running", .integer(self.running)), ("started_at", .moment(self.startedAt)),
            ("heartbeat_at", .moment(self.heartbeatAt)), ("stopped_at", .moment(self.stoppedAt)),
        ])
    }
}

extension LatencySample {
    package var json: JSONNode {
        .object([
            ("count", .integer(self.count)), ("median_seconds", .number(self.median)),
            ("p95_seconds", .number(self.p95)),
            ("longest_seconds", .number(self.longest)),
        ])
    }
}

extension MinuteCounts {
    package var json: JSONNode {
        .object([
            ("minute", .moment(self.minute)), ("decisions", .integer(self.decisions)),
            ("accepted", .integer(self.accepted)), ("discarded", .integer(self.discarded)),
            ("cancelled", .integer(self.cancelled)), ("retries", .integer(self.retries)),
        ])
    }
}

extension DeliveryFilter {
    package var json: JSONNode { .object(self.pairs.map { (name: $0.name, value: .text($0.value)) }) }
}

extension AuditEntry {
    package var json: JSONNode {
        var kind = "history"
        var target: String?
        var filter: DeliveryFilter?
        switch self.target {
        case .delivery(let id): (kind, target) = ("delivery", id.text)
        case .notification(let id): (kind, target) = ("notification", id.text)
        case .provider(let name): (kind, target) = ("provider", name)
        case .filter(let meant, let bulk): (kind, target, filter) = ("filter", bulk.text, meant)
        case .history: break
        }
        return .object([
            ("id", .id(self.id)), ("at", .moment(self.at)), ("actor", .text(self.actor)),
            ("action", .text(self.action.rawValue)), ("target_kind", .text(kind)), ("target", .optional(target)),
            ("filter", filter?.json ?? .null), ("matched", .integer(self.matched)), ("changed", .integer(self.changed)),
            ("note", .optional(self.note)),
        ])
    }
}

extension BulkAction {
    package var json: JSONNode {
        .object([
            ("id", .id(self.id)), ("action", .text(self.action.rawValue)), ("filter", self.filter.json),
            ("state", .text(self.state.rawValue)), ("matched", .integer(self.matched.value)),
            ("matched_capped", .bool(self.matched.isCapped)), ("done", .integer(self.done)),
            ("changed", .integer(self.changed)), ("actor", .text(self.actor)), ("started_at", .moment(self.startedAt)),
            ("updated_at", .moment(self.updatedAt)), ("error", .optional(self.error)),
        ])
    }
}

extension ActionResult.Item {
    package var json: JSONNode {
        .object([("id", .id(self.id)), ("changed", .bool(self.isChanged)), ("message", .text(self.message))])
    }
}
