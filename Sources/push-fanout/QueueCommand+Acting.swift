import CommandLineArguments
import PushModel
import QueueInspection

import struct FoundationEssentials.UUID

extension QueueCommand {
    // MARK: - retry, cancel

    func act(_ action: AuditEntry.Action) async throws -> Int32 {
        let filter = try self.filter()
        if self.arguments.isSet("all-matching") {
            guard self.arguments.positionals.isEmpty else {
                throw self.arguments.usageError("give either IDs or --all-matching")
            }
            guard !filter.isEmpty else {
                throw self.arguments.usageError("--all-matching needs a filter, for example --state discarded")
            }
            return try await self.actOnAll(action, filter)
        }
        guard filter.isEmpty else { throw self.arguments.usageError("a filter needs --all-matching") }
        guard !self.arguments.positionals.isEmpty else {
            throw self.arguments.usageError("give IDs, or a filter with --all-matching")
        }
        var ids: [UUID] = []
        for text in self.arguments.positionals {
            guard let id = UUID(uuidString: text) else { throw self.arguments.usageError("\(text) is not a UUID") }
            ids.append(id)
        }
        guard ids.count <= QueueActions.mostIDs else {
            throw self.arguments.usageError("\(QueueActions.Refusal.tooMany)")
        }

        let actions = try self.actions()
        let note = self.arguments.value("note")
        let result =
            action == .retry
            ? try await actions.retry(ids, actor: Self.actor, note: note)
            : try await actions.cancel(ids, actor: Self.actor, note: note)
        var table = Table()
        for item in result.items {
            if self.isJSON { print(item.json) }
            table.append([
                Table.Cell(item.id.text),
                Table.Cell(item.isChanged ? "done" : "refused", item.isChanged ? .green : .red),
                Table.Cell(item.message),
            ])
        }
        if !self.isJSON { print(table.text(on: self.terminal), terminator: "") }
        return result.items.allSatisfy(\.isChanged) ? PushFanout.ExitStatus.done : PushFanout.ExitStatus.failed
    }

    private func actOnAll(_ action: AuditEntry.Action, _ filter: DeliveryFilter) async throws -> Int32 {
        let meant: DeliveryFilter
        do {
            meant = try QueueActions.narrowed(filter, for: action)
        } catch {
            throw self.arguments.usageError("\(error)")
        }
        var count = CappedCount(counted: 0)
        _ = try await self.reading { reader in
            count = try await reader.count(matching: meant)
            return PushFanout.ExitStatus.done
        }
        let what = "\(count) deliveries with \(Self.name(meant))"
        guard count.value > 0 || count.isCapped else {
            print(self.isJSON ? "" : "no delivery matches\n", terminator: "")
            return PushFanout.ExitStatus.done
        }
        if !self.arguments.isSet("yes") {
            guard self.terminal.confirms("This is to \(action.rawValue) \(what).") else {
                PushFanout.printError("push-fanout: \(what): nothing was done; --yes does it without asking")
                return PushFanout.ExitStatus.failed
            }
        } else {
            PushFanout.printError("\(action.rawValue): \(what)")
        }
        let bulk = try await self.actions().begin(
            action, matching: meant, actor: Self.actor, note: self.arguments.value("note"))
        return try await self.finish(bulk.id)
    }

    // MARK: - Bulk actions

    func finish(_ id: UUID) async throws -> Int32 {
        PushFanout.printError(
            "action \(id.text); if this is interrupted, go on with: push-fanout queue continue \(id.text)")
        let terminal = self.terminal
        let bulk: BulkAction
        do {
            bulk = try await self.actions().run(id) { bulk in
                terminal.progress("\(bulk.done) of \(bulk.matched) looked at, \(bulk.changed) changed")
            }
        } catch let refusal as QueueActions.Refusal {
            PushFanout.printError("push-fanout: \(refusal)")
            return PushFanout.ExitStatus.failed
        }
        if terminal.isInteractive { PushFanout.printError("") }
        if self.isJSON {
            print(bulk.json)
        } else {
            print("\(bulk.state.rawValue): \(bulk.done) looked at, \(bulk.changed) changed")
        }
        return bulk.state == .finished ? PushFanout.ExitStatus.done : PushFanout.ExitStatus.failed
    }

    func stop() async throws -> Int32 {
        guard let bulk = try await self.actions().stop(try self.id(), actor: Self.actor) else {
            PushFanout.printError("push-fanout: \(QueueActions.Refusal.noSuchBulkAction)")
            return PushFanout.ExitStatus.failed
        }
        print("\(bulk.state.rawValue): \(bulk.done) looked at, \(bulk.changed) changed")
        return PushFanout.ExitStatus.done
    }
}
