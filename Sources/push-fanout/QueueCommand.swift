import CommandLineArguments
import DeliveryQueue
import Postgres
import PushModel

/// `push-fanout queue`: what waits, and the operator's hand on the providers.
enum QueueCommand {
    static let declaration = Command(
        "queue", summary: "Shows what waits; pauses and resumes a provider.",
        flags: Setting.database.flatMap(\.flags),
        subcommands: [
            Command("stats", summary: "What waits, what runs, and which providers are paused."),
            Command(
                "pause", summary: "No worker sends to the provider until it is resumed; nothing is lost.",
                flags: [.value("reason", "TEXT", "why, for whoever looks", default: "by an operator")],
                positionals: [Positional("PROVIDER", Self.providerHelp)]),
            Command(
                "resume", summary: "Ends a pause, whoever began it, and sends what waited.",
                positionals: [Positional("PROVIDER", Self.providerHelp)]),
        ],
        notes: "Run it as a role that is a member of push_worker.")

    private static let providerHelp = "apns, fcm, apns:production or apns:development"
    /// Counts are not taken further than this.
    private static let mostCounted = 10_000

    static func run(_ configuration: Configuration, _ arguments: ParsedArguments) async throws -> Int32 {
        let command = arguments.subcommands.dropFirst().first
        let endpoints = command == "stats" ? [] : try Self.endpoints(arguments)
        let source = try configuration.source()
        let connection = try await PostgresConnection.connect(try configuration.database())
        let names = endpoints.map(\.rawValue).joined(separator: ", ")
        switch command {
        case "stats": try await Self.stats(on: connection)
        case "pause":
            let reason = String((arguments.value("reason") ?? "by an operator").prefix(200))
            try await connection.query(ProviderPause.pause(endpoints, reason: reason, by: "operator"))
            print("paused \(names)")
        case "resume":
            try await connection.query(ProviderPause.resume(endpoints))
            print("resumed \(names)")
        default: throw arguments.usageError("a command is missing")
        }
        await connection.close()
        return PushFanout.ExitStatus.done
    }

    private static func endpoints(_ arguments: ParsedArguments) throws(UsageError) -> [ProviderEndpoint] {
        let name = arguments.positionals.first ?? ""
        let found = ProviderEndpoint.allCases.filter { $0.rawValue == name || $0.provider.rawValue == name }
        guard !found.isEmpty else { throw arguments.usageError("PROVIDER must be \(Self.providerHelp)") }
        return found
    }

    private static func stats(on connection: PostgresConnection) async throws {
        let row = try await connection.query(ProviderPause.statistics).single()
        func counted(_ number: Int) -> String { number > Self.mostCounted ? "\(Self.mostCounted)+" : "\(number)" }
        print("notifications to claim   \(counted(try row.int(0)))   oldest \(try row.int(3)) s")
        print("notifications in work    \(try row.int(2))")
        print("deliveries that wait     \(counted(try row.int(1)))")
        print("workers                  \(try row.int(4))")
        for pause in try await connection.query(ProviderPause.pauses) {
            let until = try pause.optionalDate(1).map { "until \($0)" } ?? "until resumed"
            print("paused: \(try pause.text(0)) \(until): \(try pause.text(2)). \(try pause.text(3))")
        }
    }
}
