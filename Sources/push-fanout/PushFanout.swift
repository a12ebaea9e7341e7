import CommandLineArguments
import Delivery
import DeliveryQueue
import Glibc
import Postgres

/// The program: its commands, and what it exits with.
enum PushFanout {
    static let version = "0.1.0"

    /// 0 done, 1 failed, 2 wrong usage, 3 configuration.
    enum ExitStatus {
        static let done: Int32 = 0
        static let failed: Int32 = 1
        static let configuration: Int32 = 3
    }

    static let command = Command(
        "push-fanout",
        summary: "Turns rows of a notifications table into push notifications.",
        subcommands: [
            RunCommand.declaration, MigrateCommand.declaration, CheckCommand.declaration, PreviewCommand.declaration,
            QueueCommand.declaration, NotifyCommand.declaration, PruneCommand.declaration,
            Command("version", summary: "Prints the version."),
        ],
        notes: """
            Every setting is a flag, or an environment variable of the name in brackets; a flag wins. The README has a table.
            Exit status: 0 done, 1 failed, 2 wrong usage, 3 configuration.
            """)

    static func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        do {
            let parsed = try Self.command.parse(arguments)
            if let help = parsed.help {
                print(help)
                return ExitStatus.done
            }
            let configuration = Configuration(values: SettingValues(parsed, environment: environment))
            switch parsed.subcommands.first {
            case "run": return try await RunCommand.run(configuration, environment)
            case "migrate": return try await MigrateCommand.run(configuration, parsed)
            case "check": return await CheckCommand.run(configuration)
            case "preview": return try PreviewCommand.run(configuration, parsed)
            case "queue": return try await QueueCommand.run(configuration, parsed)
            case "notify": return try await NotifyCommand.run(configuration, parsed)
            case "prune": return try await PruneCommand.run(configuration, parsed)
            case "version":
                print("push-fanout \(Self.version)")
                return ExitStatus.done
            default: throw UsageError("a command is missing", command: Self.command.name)
            }
        } catch let error as UsageError {
            printError("push-fanout: \(error)")
            return UsageError.exitCode
        } catch let error as ConfigurationError {
            printError("push-fanout: \(error)")
            return ExitStatus.configuration
        } catch {
            printError("push-fanout: \(error)")
            return ExitStatus.failed
        }
    }

    static func printError(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
