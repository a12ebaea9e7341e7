import CommandLineArguments
import Delivery
import DeliveryQueue
import Glibc
import Postgres
import PushModel
import QueueInspection

import struct FoundationEssentials.Date
import class FoundationEssentials.ProcessInfo
import struct FoundationEssentials.UUID

/// `push-fanout queue`: what waits, why a phone did not buzz, and the operator's hand on deliveries and providers.
struct QueueCommand {
    static let declaration = Command(
        "queue", summary: "Shows the queue, and why a phone did not buzz; retries, cancels, pauses.",
        flags: Setting.database.flatMap(\.flags) + Setting.lifetime.flags,
        subcommands: [
            Command(
                "stats", summary: "What waits, what runs, and which providers are paused.", flags: [Self.json]),
            Command(
                "list", summary: "Deliveries that match, newest first.",
                flags: Self.filterFlags + [
                    .value("limit", "N", "most rows", default: "50"),
                    .value("from", "PLACE", "go on where an earlier list ended"), Self.json,
                ]),
            Command(
                "show", summary: "Everything about a delivery or a notification: why did this phone not buzz?",
                flags: [Self.json], positionals: [Positional("ID", "of a delivery or a notification")]),
            Command(
                "retry", summary: "Sends discarded and cancelled deliveries again; makes due what waits.",
                flags: Self.actionFlags, positionals: [Self.ids]),
            Command(
                "cancel", summary: "Cancels deliveries that wait, and notifications nobody has claimed.",
                flags: Self.actionFlags, positionals: [Self.ids]),
            Command(
                "pause", summary: "No worker sends to the provider until it is resumed; nothing is lost.",
                flags: [.value("reason", "TEXT", "why, for whoever looks", default: "by an operator")],
                positionals: [Positional("PROVIDER", Self.providerHelp)]),
            Command(
                "resume", summary: "Ends a pause, whoever began it, and sends what waited.",
                positionals: [Positional("PROVIDER", Self.providerHelp)]),
            Command(
                "audit", summary: "What operators did, newest first.",
                flags: [.value("limit", "N", "most rows", default: "50"), Self.json]),
            Command("bulk", summary: "The latest actions on all that matched a filter.", flags: [Self.json]),
            Command(
                "continue", summary: "Goes on with such an action that was interrupted.",
                positionals: [Positional("ID", "of the action")]),
            Command(
                "stop", summary: "Has such an action stop, wherever it runs.",
                positionals: [Positional("ID", "of the action")]),
        ],
        defaultSubcommand: "stats",
        notes: "Run it as a role that is a member of push_operator or push_worker.")

    private static let providerHelp = "apns, fcm, apns:production or apns:development"
    private static let json = Flag.boolean("json", "one JSON object per line, for scripts")
    private static let ids = Positional("ID", "of deliveries, or of notifications", isRequired: false, repeats: true)

    private static let filterFlags: [Flag] = [
        .value("state", "STATE", "available, running, accepted, discarded or cancelled"),
        .value("kind", "KIND", "kind of notification"), .value("platform", "PLATFORM", "ios or android"),
        .value("reason", "REASON", "the last reason, exactly"), .value("account", "ID", "of one account"),
        .value("device", "ID", "of one device"), .value("notification", "ID", "of one notification"),
        .value("since", "TIME", "not before: 2h (ago), 2026-11-30 or 2026-11-30T14:05:00Z"),
        .value("until", "TIME", "before this time"),
    ]
    private static let actionFlags: [Flag] =
        filterFlags + [
            .boolean("all-matching", "everything that the filter matches, instead of IDs"),
            .boolean("yes", "with --all-matching: do not ask"), .value("note", "TEXT", "why, for the audit"),
            Self.json,
        ]

    let configuration: Configuration
    let arguments: ParsedArguments
    let terminal: Terminal
    let source: SourceSchema

    static func run(_ configuration: Configuration, _ arguments: ParsedArguments) async throws -> Int32 {
        let command = QueueCommand(
            configuration: configuration, arguments: arguments, terminal: .current(), source: try configuration.source()
        )
        do {
            return try await command.run()
        } catch let error as PostgresError {
            guard let advice = Self.advice(error) else { throw error }
            PushFanout.printError("push-fanout: \(error)\n\(advice)")
            return PushFanout.ExitStatus.failed
        }
    }

    private static func advice(_ error: PostgresError) -> String? {
        if error.isReadOnly {
            return "The database takes no writes: DATABASE_URL must lead to the primary. "
                + "To look and do nothing, add target_session_attrs=any to it."
        }
        return switch error.sqlState {
        case "57014": "The database took longer than it may: narrow the search, for example with --since 2h."
        case "55P03": "Somebody holds a lock on the queue's tables, or another operator's action runs: try again."
        case "42501": "Run it as a role that is a member of push_operator, after push-fanout migrate."
        case "42P01", "42703", "42883", "3F000": "The schema is older than this program: run push-fanout migrate."
        default: nil
        }
    }

    private func run() async throws -> Int32 {
        switch self.arguments.subcommands.dropFirst().first {
        case "stats": try await self.reading { try await self.stats($0) }
        case "list": try await self.list()
        case "show": try await self.show()
        case "retry": try await self.act(.retry)
        case "cancel": try await self.act(.cancel)
        case "pause", "resume": try await self.provider()
        case "audit": try await self.reading { try await self.audit($0) }
        case "bulk": try await self.reading { try await self.bulkActions($0) }
        case "continue": try await self.finish(try self.id())
        case "stop": try await self.stop()
        default: throw self.arguments.usageError("a command is missing")
        }
    }

    // MARK: - Shared

    var isJSON: Bool { self.arguments.isSet("json") }

    /// In transactions that can only read.
    func reading(_ body: (QueueReader) async throws -> Int32) async throws -> Int32 {
        let connection = try await PostgresConnection.connect(try self.configuration.database())
        let reader = QueueReader(source: self.source) {
            try await connection.query($0, inTransaction: QueueReader.beginning)
        }
        let status = try await body(reader)
        await connection.close()
        return status
    }

    func actions() throws -> QueueActions {
        let lifetimes = try self.configuration.lifetimes()
        return QueueActions(source: self.source, database: try self.configuration.database()) {
            lifetimes[$0] ?? .seconds(28 * 86_400)
        }
    }

    /// `cli:anna@host`.
    static var actor: String {
        var name = [CChar](repeating: 0, count: 256)
        let host =
            gethostname(&name, name.count - 1) == 0
            ? String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "unknown"
        let user = ProcessInfo.processInfo.environment["USER"] ?? ""
        return "cli:\(user.isEmpty ? "uid \(getuid())" : user)@\(host)"
    }

    func filter() throws(UsageError) -> DeliveryFilter {
        let pairs = DeliveryFilter.Field.allCases.compactMap { field in
            self.arguments.value(field.rawValue).map { (name: field.rawValue, value: $0) }
        }
        do {
            return try DeliveryFilter(pairs: pairs, now: Date())
        } catch {
            throw self.arguments.usageError("--\(error)")
        }
    }

    func id() throws(UsageError) -> UUID {
        guard let id = UUID(uuidString: self.arguments.positionals.first ?? "") else {
            throw self.arguments.usageError("ID is not a UUID")
        }
        return id
    }

    // MARK: - Providers

    private func provider() async throws -> Int32 {
        let name = self.arguments.positionals.first ?? ""
        let endpoints = ProviderEndpoint.allCases.filter { $0.rawValue == name || $0.provider.rawValue == name }
        guard !endpoints.isEmpty else { throw self.arguments.usageError("PROVIDER must be \(Self.providerHelp)") }
        let names = endpoints.map(\.rawValue).joined(separator: ", ")
        if self.arguments.subcommands.contains("pause") {
            let reason = String((self.arguments.value("reason") ?? "by an operator").prefix(200))
            try await self.actions().pause(endpoints, reason: reason, actor: Self.actor)
            print("paused \(names)")
        } else {
            try await self.actions().resume(endpoints, actor: Self.actor)
            print("resumed \(names)")
        }
        return PushFanout.ExitStatus.done
    }
}
