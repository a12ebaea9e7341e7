import CommandLineArguments
import Glibc
import Postgres

@main
struct Main {
    private static let command = Command(
        "push-benchmark", summary: "Rates and latencies; `deploy/bench` runs them all.",
        subcommands: [
            Command(
                "transport", summary: "Requests a second through the HTTP transport alone.",
                flags: [
                    .value("url", "URL", "what a device token is appended to"),
                    .value("ca-file", "PATH", "CA certificates"),
                    .value("requests", "N", "how many", default: "100000"),
                    .value("connections", "N", "connections", default: "1"),
                    .value("window", "N", "requests in flight on each", default: "100"),
                ]),
            Command(
                "backlog", summary: "Deliveries a second of a running worker, from one large insert.",
                flags: Self.worker + [.value("count", "N", "notifications", default: "100000")]),
            Command(
                "steady", summary: "Latency of a running worker at a steady rate.",
                flags: Self.worker + [
                    .value("rate", "N", "notifications a second", default: "100"),
                    .value("seconds", "N", "for how long", default: "20"),
                ]),
        ])

    private static let worker: [Flag] = [
        .value("database-url", "URL", "a role that may write the reference schema and read push"),
        .value("pid", "N", "process id of the worker, for memory and CPU time"),
        .value("accounts", "N", "accounts to make first", default: "0"),
    ]

    static func main() async {
        do {
            let arguments = try Self.command.parse(Array(CommandLine.arguments.dropFirst()))
            if let help = arguments.help {
                print(help)
            } else {
                try await Self.run(arguments)
            }
        } catch let error as UsageError {
            print(error)
            exit(UsageError.exitCode)
        } catch {
            print("push-benchmark: \(error)")
            exit(1)
        }
    }

    private static func run(_ arguments: ParsedArguments) async throws {
        func number(_ name: String, _ range: ClosedRange<Int>, _ otherwise: Int) throws -> Int {
            try arguments.integer(name, in: range) ?? otherwise
        }
        if arguments.subcommands.first == "transport" {
            guard let url = arguments.value("url") else { throw arguments.usageError("--url is missing") }
            try await transportBenchmark(
                url: url, caFile: arguments.value("ca-file"), requests: try number("requests", 1...10_000_000, 100_000),
                connections: try number("connections", 1...64, 1), window: try number("window", 1...10_000, 100),
                batch: 500)
            return
        }
        guard let url = arguments.value("database-url") else { throw arguments.usageError("--database-url is missing") }
        let connection = try await PostgresConnection.connect(try PostgresConfiguration(url))
        let benchmark = WorkerBenchmark(
            connection: connection, workerPID: try arguments.integer("pid", in: 1...Int(Int32.max)))
        let accounts = try number("accounts", 0...1_000_000, 0)
        if accounts > 0 { try await benchmark.prepare(accounts: accounts) }
        if arguments.subcommands.first == "backlog" {
            try await benchmark.backlog(count: try number("count", 1...10_000_000, 100_000), limit: .seconds(600))
        } else {
            try await benchmark.steady(
                rate: try number("rate", 1...10_000, 100), seconds: try number("seconds", 1...600, 20),
                limit: .seconds(60))
        }
        await connection.close()
    }
}
