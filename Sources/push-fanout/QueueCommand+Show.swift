import CommandLineArguments
import PushModel
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// `queue show`: a story that a person understands.
extension QueueCommand {
    /// Of a notification, so many deliveries are told in full.
    private static let mostTold = 50

    func show() async throws -> Int32 {
        let id = try self.id()
        return try await self.reading { reader in
            if let timeline = try await reader.timeline(of: id) {
                print(self.isJSON ? "\(timeline.json)\n" : self.story(timeline), terminator: "")
                return PushFanout.ExitStatus.done
            }
            if let view = try await reader.notification(id) {
                var timelines: [DeliveryTimeline] = []
                for delivery in view.devices.compactMap(\.delivery).prefix(Self.mostTold) {
                    if let timeline = try await reader.timeline(of: delivery.id) { timelines.append(timeline) }
                }
                print(
                    self.isJSON ? "\(view.json(timelines: timelines))\n" : self.story(view, timelines), terminator: "")
                return PushFanout.ExitStatus.done
            }
            PushFanout.printError(
                "push-fanout: no delivery or notification has this id; what was decided is kept for PUSH_KEEP only")
            return PushFanout.ExitStatus.failed
        }
    }

    private func story(_ timeline: DeliveryTimeline) -> String {
        let row = timeline.row
        var head = Table()
        head.append([Table.Cell("delivery"), Table.Cell(row.id.text, .bold)])
        head.append([Table.Cell("state"), Table.Cell(row.state.rawValue, Self.colour(row.state))])
        head.append([Table.Cell("why"), Table.Cell(timeline.summary)])
        head.append([Table.Cell("kind"), Table.Cell(row.kind ?? "-")])
        head.append([
            Table.Cell("device"), Table.Cell("\(row.deviceID.text) (\(row.platform?.rawValue ?? "not known yet"))"),
        ])
        head.append([Table.Cell("account"), Table.Cell(row.accountID?.text ?? "-")])
        head.append([Table.Cell("notification"), Table.Cell(row.notificationID.text)])
        var text = head.text(on: self.terminal) + "\n" + self.events(timeline)
        let hints = [
            timeline.may.retry ? "push-fanout queue retry \(row.id.text)" : nil,
            timeline.may.cancel ? "push-fanout queue cancel \(row.id.text)" : nil,
        ].compactMap(\.self)
        if !hints.isEmpty { text += "\nyou may: " + hints.joined(separator: "  or  ") + "\n" }
        return text
    }

    private func events(_ timeline: DeliveryTimeline) -> String {
        var events: [(time: Date, cells: [Table.Cell])] = []
        func add(_ time: Date, _ what: String, _ text: String, _ colour: Terminal.Colour? = nil) {
            events.append((time, [Table.Cell(MomentText.write(time)), Table.Cell(what, colour), Table.Cell(text)]))
        }
        if let decision = timeline.decision {
            add(
                decision.decidedAt, "decided",
                "\(decision.decision) (from \(decision.origin)): \(decision.explanation)")
        }
        let audited = Set(timeline.audit.map(\.id))
        for attempt in timeline.attempts {
            // Its entry in the audit tells more.
            if audited.contains(attempt.workerID) { continue }
            let isTry = attempt.milliseconds != nil || attempt.status != nil
            let took = attempt.milliseconds.map { ", \($0) ms" } ?? ""
            add(
                attempt.finishedAt, isTry ? "try \(attempt.number)" : attempt.outcome,
                attempt.explanation + took, Self.colour(attempt.state))
        }
        for entry in timeline.audit {
            add(
                entry.at, "operator",
                "\(entry.actor): \(entry.action.rawValue) \(Self.name(entry.target))"
                    + (entry.changed == 0 ? ", nothing changed" : "") + (entry.note.map { ": \($0)" } ?? ""))
        }
        events.sort { $0.time < $1.time }
        if let waiting = timeline.waiting {
            let lease = waiting.isLeased ? "leased until" : "due at"
            events.append(
                (
                    .distantFuture,
                    [
                        Table.Cell("now"), Table.Cell("waits", .yellow),
                        Table.Cell(
                            "for \(waiting.endpoint.rawValue) (\(waiting.reason)), \(lease) "
                                + "\(MomentText.write(waiting.scheduledAt)), given up at \(MomentText.write(waiting.expiresAt))"
                        ),
                    ]
                ))
        }
        if let batch = timeline.batch {
            events.append(
                (
                    .distantFuture,
                    [
                        Table.Cell("now"), Table.Cell("held", .yellow),
                        Table.Cell(
                            "by worker \(batch.workerID.text) until \(MomentText.write(batch.leasedUntil))"
                                + (batch.rescues > 0 ? ", rescued \(batch.rescues) times" : "")),
                    ]
                ))
        }
        var table = Table()
        for event in events { table.append(event.cells) }
        return table.text(on: self.terminal)
    }

    private func story(_ view: NotificationView, _ timelines: [DeliveryTimeline]) -> String {
        var head = Table()
        head.append([Table.Cell("notification"), Table.Cell(view.id.text, .bold)])
        head.append([Table.Cell("why"), Table.Cell(view.summary)])
        if let row = view.row {
            head.append([Table.Cell("kind"), Table.Cell(row.kind)])
            head.append([Table.Cell("account"), Table.Cell(row.accountID.text)])
            head.append([Table.Cell("created"), Table.Cell(MomentText.write(row.createdAt))])
            if let read = row.readAt { head.append([Table.Cell("read"), Table.Cell(MomentText.write(read))]) }
            if let ignored = row.ignoredAt {
                head.append([Table.Cell("ignored"), Table.Cell(MomentText.write(ignored))])
            }
        } else {
            head.append([Table.Cell("row"), Table.Cell("gone from the app's table")])
        }
        if let outbox = view.outbox {
            head.append([
                Table.Cell("outbox"),
                Table.Cell("lane \(outbox.lane), from \(outbox.origin), since \(MomentText.write(outbox.enqueuedAt))"),
            ])
        }
        if let batch = view.batch {
            head.append([
                Table.Cell("held"),
                Table.Cell("by worker \(batch.workerID.text) until \(MomentText.write(batch.leasedUntil))"),
            ])
        }
        if let decision = view.decision {
            head.append([
                Table.Cell("decided"),
                Table.Cell("\(decision.decision) at \(MomentText.write(decision.decidedAt)): \(decision.explanation)"),
            ])
        }
        for entry in view.audit {
            head.append([
                Table.Cell("operator"),
                Table.Cell(
                    "\(MomentText.write(entry.at)) \(entry.actor): \(entry.action.rawValue)"
                        + (entry.note.map { ": \($0)" } ?? "")),
            ])
        }
        var text = head.text(on: self.terminal) + "\n"
        if view.devices.isEmpty { text += "the account has no device\n" }
        for verdict in view.devices {
            let platform = verdict.device?.platform ?? verdict.delivery?.platform?.rawValue ?? "unknown"
            let answer =
                switch verdict.buzzed {
                case .yes: self.terminal.paint("accepted", .green)
                case .no: self.terminal.paint("not pushed", .red)
                case .notYet: self.terminal.paint("not yet", .yellow)
                }
            text += "\(platform) device \(verdict.deviceID.text): \(answer)\n  \(verdict.explanation)\n"
            if let delivery = verdict.delivery, let timeline = timelines.first(where: { $0.row.id == delivery.id }) {
                text += "  delivery \(delivery.id.text)\n"
                text += self.events(timeline).split(separator: "\n").map { "    \($0)\n" }.joined()
            }
        }
        return text
    }
}
