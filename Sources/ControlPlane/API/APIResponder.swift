import Dashboard
import HTTPServer
import PushModel
import QueueInspection

import struct FoundationEssentials.Data
import struct FoundationEssentials.Date
import class FoundationEssentials.JSONDecoder
import struct FoundationEssentials.UUID

/// The dashboard's values and actions as JSON, for programs.
struct APIResponder: Sendable {
    let queue: QueueAccess
    let actions: ActionRunner

    func response(_ call: Destination.APICall, _ request: Request, _ caller: Caller) async -> Response {
        do {
            if case .act(let action) = call { return try await self.act(action, request, caller) }
            if call == .unknown { return Answers.error(404, "the API has no such address; see the README") }
            guard let value = try await self.read(call, request.head) else {
                return Answers.error(404, "nothing has this id, or it was pruned")
            }
            return Answers.json(value)
        } catch let invalid as DeliveryFilter.Invalid {
            return Answers.error(400, invalid.description)
        } catch let wrong as WrongParameter {
            return Answers.error(400, wrong.message)
        } catch is ActionRunner.Busy {
            return Answers.error(503, "other actions are under way", headers: [.init("Retry-After", "2")])
        } catch {
            let failure = ReadFailure(error)
            let message = failure.detail ?? (failure.status == 503 ? "the database does not answer" : "internal error")
            return Answers.error(
                failure.status, message, headers: failure.status == 503 ? [.init("Retry-After", "5")] : [])
        }
    }

    private struct WrongParameter: Error {
        var message: String
    }

    // MARK: - Reading

    private func read(_ call: Destination.APICall, _ head: RequestHead) async throws -> JSONNode? {
        let reader = self.queue.reader
        switch call {
        case .overview: return try await self.queue.overview().json
        case .deliveries:
            try Self.refuseUnknown(head.query.map(\.name), besides: ["cursor", "limit"])
            let filter = try DeliveryFilter(pairs: head.query.map { ($0.name, $0.value) }, now: Date())
            let page = try await reader.deliveries(
                matching: filter, from: try Self.cursor(head), limit: try Self.limit(head))
            return page.json
        case .delivery(let id): return try await reader.timeline(of: id)?.json
        case .notification(let id): return try await self.notification(id)
        case .providers: return .object([("providers", .array(try await reader.providers().map(\.json)))])
        case .workers: return .object([("workers", .array(try await self.queue.overview().workers.map(\.json)))])
        case .audit:
            let page = try await reader.audit(before: try Self.cursor(head), limit: try Self.limit(head))
            return .object([
                ("audit", .array(page.entries.map(\.json))), ("next", .optional(page.next?.description)),
            ])
        case .database: return try await reader.databaseHealth().json
        case .bulkActions: return .object([("bulk", .array(try await reader.bulkActions().map(\.json)))])
        case .bulk(let id): return try await reader.bulkAction(id)?.json
        case .act, .unknown: return nil
        }
    }

    /// Phones of one account; more have their attempts under their own address.
    private static let mostTimelines = 10

    private func notification(_ id: UUID) async throws -> JSONNode? {
        guard let view = try await self.queue.reader.notification(id) else { return nil }
        var timelines: [DeliveryTimeline] = []
        for delivery in view.devices.compactMap(\.delivery).prefix(Self.mostTimelines) {
            if let timeline = try await self.queue.reader.timeline(of: delivery.id) { timelines.append(timeline) }
        }
        return view.json(timelines: timelines)
    }

    /// A misspelt field would match everything.
    private static func refuseUnknown(_ names: [String], besides others: [String] = []) throws {
        let known = DeliveryFilter.Field.allCases.map(\.rawValue) + others
        guard let unknown = names.first(where: { !known.contains($0) }) else { return }
        throw WrongParameter(
            message: "filter has no field \(unknown.prefix(40)); there are \(known.joined(separator: ", "))")
    }

    private static func cursor(_ head: RequestHead) throws -> DeliveryCursor? {
        guard let text = head.queryValue("cursor"), !text.isEmpty else { return nil }
        guard let cursor = DeliveryCursor(text) else {
            throw WrongParameter(message: "cursor must be the next or previous of another answer")
        }
        return cursor
    }

    private static func limit(_ head: RequestHead) throws -> Int {
        guard let text = head.queryValue("limit") else { return 50 }
        guard let limit = Int(text), (1...200).contains(limit) else {
            throw WrongParameter(message: "limit must be a whole number from 1 to 200")
        }
        return limit
    }

    // MARK: - Acting

    /// The body of an action; all of it may be left out.
    private struct Command: Decodable {
        /// Of a bulk action, in the names of the query of `GET deliveries`.
        var filter: [String: String]?
        var note: String?
    }

    private func act(_ action: Destination.Action, _ request: Request, _ caller: Caller) async throws -> Response {
        let command = try Self.command(request.body)
        try Self.refuseUnknown((command.filter ?? [:]).keys.sorted())
        let pairs = (command.filter ?? [:]).map { (name: $0.key, value: $0.value) }
        let filter = try DeliveryFilter(pairs: pairs, now: Date())
        let note = command.note.flatMap { $0.isEmpty ? nil : String($0.prefix(500)) }
        switch try await self.actions.run(action, filter: filter, actor: caller.actor, note: note) {
        case .refused(let why): return Answers.error(409, why)
        case .deliveries(let result):
            return Answers.json(
                .object([("changed", .integer(result.changed)), ("items", .array(result.items.map(\.json)))]))
        case .bulk(let bulk): return Answers.json(bulk.json, status: 202)
        case .provider(let endpoint, let isPaused):
            return Answers.json(.object([("endpoint", .text(endpoint.rawValue)), ("paused", .bool(isPaused))]))
        }
    }

    private static func command(_ body: [UInt8]) throws -> Command {
        guard !body.isEmpty else { return Command() }
        do {
            return try JSONDecoder().decode(Command.self, from: Data(body))
        } catch {
            throw WrongParameter(
                message: "the body must be JSON such as {\"note\": \"…\", \"filter\": {\"state\": \"discarded\"}}")
        }
    }
}
