import CommandLineArguments
import PushModel
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

extension QueueCommand {
    // MARK: - stats

    func stats(_ reader: QueueReader) async throws -> Int32 {
        let overview = try await reader.overview()
        guard !self.isJSON else {
            print(overview.json)
            return PushFanout.ExitStatus.done
        }
        func ago(_ seconds: Double?) -> String { seconds.map { "   oldest \(Self.duration($0))" } ?? "" }
        for lane in overview.lanes {
            print("notifications to claim   \(lane.count) \(lane.lane)\(ago(lane.oldestSeconds))")
        }
        print("notifications in work    \(overview.running)")
        let waiting = overview.endpoints.filter { $0.count.value > 0 }
        // Capped counts stay what they are in a sum: at least so many.
        let sum = CappedCount(
            counted: waiting.map(\.count.value).reduce(0, +), stoppedEarly: waiting.contains { $0.count.isCapped })
        print("deliveries that wait     \(sum)")
        for depth in waiting {
            print("  at \(depth.endpoint.rawValue): \(depth.count), due now \(depth.due)\(ago(depth.oldestDueSeconds))")
        }
        print("workers                  \(overview.workers.count { $0.condition == .running })")
        for worker in overview.workers where worker.condition == .lost {
            print("lost: \(worker.name), last seen \(MomentText.write(worker.heartbeatAt))")
        }
        let hour = overview.series.minutes
        print(
            "last hour                \(hour.map(\.decisions).reduce(0, +)) decided, "
                + "\(hour.map(\.accepted).reduce(0, +)) accepted, \(hour.map(\.discarded).reduce(0, +)) discarded, "
                + "\(hour.map(\.retries).reduce(0, +)) to be tried again")
        if let latency = overview.latency {
            print(
                "written to accepted      median \(Self.duration(latency.median)), 95 % within "
                    + "\(Self.duration(latency.p95)) (latest \(latency.count))")
        }
        for provider in overview.providers {
            guard let pause = provider.pause else { continue }
            let until = pause.until.map { "until \(MomentText.write($0))" } ?? "until resumed"
            print(
                self.terminal.paint(
                    "paused: \(provider.endpoint.rawValue) \(until): \(pause.reason). \(pause.fix ?? "")", .red))
        }
        for transaction in try await reader.transactions() {
            guard let line = Self.line(transaction) else { continue }
            print(self.terminal.paint(line, .yellow))
        }
        return PushFanout.ExitStatus.done
    }

    /// Of a transaction that has been open for so long that it is worth a word: while it lasts, no dead row is removed.
    static func line(_ transaction: OpenTransaction) -> String? {
        guard transaction.seconds >= 60 else { return nil }
        let who = [transaction.application, transaction.role].filter { !$0.isEmpty }.joined(separator: ", ")
        let line =
            "old transaction: pid \(transaction.pid) (\(who)), open for \(Self.duration(transaction.seconds)), "
            + "\(transaction.state): it keeps dead rows; select pg_terminate_backend(\(transaction.pid)) ends it"
        return Table.Cell(line).text
    }

    /// `340 ms`, `12 s`, `3 min`, `5 h`, `2 d`.
    static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<10: "\(Int((seconds * 1000).rounded())) ms"
        case ..<120: "\(Int(seconds.rounded())) s"
        case ..<7200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3600)) h"
        default: "\(Int(min(seconds / 86_400, 1e6))) d"
        }
    }

    // MARK: - list

    /// A search that looks at many rows and finds few goes on by itself so often, then says where it stopped.
    private static let mostThinPages = 20

    func list() async throws -> Int32 {
        let filter = try self.filter()
        var left = try self.arguments.integer("limit", in: 1...100_000) ?? 50
        var cursor: DeliveryCursor?
        if let place = self.arguments.value("from") {
            guard let parsed = DeliveryCursor(place) else { throw self.arguments.usageError("--from is no place") }
            cursor = parsed
        }
        let from = cursor
        return try await self.reading { reader in
            var cursor = from
            var table = Table(Self.columns)
            var shown = 0
            var thin = 0
            repeat {
                let wanted = min(left, 1000)
                let page = try await reader.deliveries(matching: filter, from: cursor, limit: wanted)
                for row in page.rows {
                    if self.isJSON { print(row.json) } else { table.append(Self.cells(row)) }
                }
                shown += page.rows.count
                left -= page.rows.count
                cursor = page.next
                if page.rows.count < wanted { thin += 1 }
                // Whoever reads it may have had enough.
                if self.isJSON, !StandardStreams.flush() { break }
            } while left > 0 && cursor != nil && thin < Self.mostThinPages
            if !self.isJSON {
                print(shown == 0 ? "no delivery matches\n" : table.text(on: self.terminal), terminator: "")
            }
            if let cursor {
                PushFanout.printError(
                    left > 0
                        ? "stopped after looking at many rows that do not match; go on with --from \(cursor)"
                        : "there are more; go on with --from \(cursor)")
            }
            return PushFanout.ExitStatus.done
        }
    }

    private static let columns = ["TIME", "DELIVERY", "KIND", "PLATFORM", "STATE", "TRIES", "REASON"]

    private static func cells(_ row: DeliveryRow) -> [Table.Cell] {
        [
            Table.Cell(MomentText.write(row.time)), Table.Cell(row.id.text), Table.Cell(row.kind ?? "-"),
            Table.Cell(row.platform?.rawValue ?? "-"), Table.Cell(row.state.rawValue, Self.colour(row.state)),
            Table.Cell("\(row.attempt)"), Table.Cell(row.reason ?? ""),
        ]
    }

    static func colour(_ state: DeliveryState) -> Terminal.Colour {
        switch state {
        case .accepted: .green
        case .discarded: .red
        case .cancelled: .grey
        case .available, .running: .yellow
        }
    }

    // MARK: - audit, bulk

    func audit(_ reader: QueueReader) async throws -> Int32 {
        let limit = try self.arguments.integer("limit", in: 1...1000) ?? 50
        let entries = try await reader.audit(limit: limit).entries
        var table = Table(["TIME", "WHO", "ACTION", "WHAT", "CHANGED", "NOTE"])
        for entry in entries {
            if self.isJSON { print(entry.json) }
            table.append([
                Table.Cell(MomentText.write(entry.at)), Table.Cell(entry.actor), Table.Cell(entry.action.rawValue),
                Table.Cell(Self.name(entry.target)), Table.Cell("\(entry.changed)"), Table.Cell(entry.note ?? ""),
            ])
        }
        if !self.isJSON {
            print(entries.isEmpty ? "no operator did anything yet\n" : table.text(on: self.terminal), terminator: "")
        }
        return PushFanout.ExitStatus.done
    }

    static func name(_ target: AuditEntry.Target) -> String {
        switch target {
        case .delivery(let id): "delivery \(id.text)"
        case .notification(let id): "notification \(id.text)"
        case .provider(let name): name
        case .filter(let filter, _): "all with " + Self.name(filter)
        case .history: "history"
        }
    }

    static func name(_ filter: DeliveryFilter) -> String {
        filter.pairs.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    }

    func bulkActions(_ reader: QueueReader) async throws -> Int32 {
        let actions = try await reader.bulkActions()
        var table = Table(["BEGUN", "ID", "ACTION", "STATE", "DONE", "OF", "CHANGED", "WHO", "WHAT"])
        for bulk in actions {
            if self.isJSON { print(bulk.json) }
            table.append([
                Table.Cell(MomentText.write(bulk.startedAt)), Table.Cell(bulk.id.text),
                Table.Cell(bulk.action.rawValue), Table.Cell(bulk.state.rawValue), Table.Cell("\(bulk.done)"),
                Table.Cell("\(bulk.matched)"), Table.Cell("\(bulk.changed)"), Table.Cell(bulk.actor),
                Table.Cell(Self.name(bulk.filter)),
            ])
        }
        if !self.isJSON {
            print(actions.isEmpty ? "there was none yet\n" : table.text(on: self.terminal), terminator: "")
        }
        return PushFanout.ExitStatus.done
    }
}
