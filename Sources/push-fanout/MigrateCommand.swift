import CommandLineArguments
import DeliveryQueue
import Postgres

/// `push-fanout migrate`: creates or upgrades the schema `push`.
enum MigrateCommand {
    static let declaration = Command(
        "migrate", summary: "Creates or upgrades the schema push.",
        flags: Setting.database.flatMap(\.flags) + [
            .boolean("status", "only list the migrations and whether they are applied"),
            .boolean(
                "print", "only print the SQL, for those who apply it by hand; with a database, what is missing there"),
        ])

    static func run(_ configuration: Configuration, _ arguments: ParsedArguments) async throws -> Int32 {
        let migrator = Migrator(source: try configuration.source())
        if arguments.isSet("print"), try configuration.values.text(.databaseURL) == nil {
            print(migrator.script(applied: []), terminator: "")
            return PushFanout.ExitStatus.done
        }
        let connection = try await PostgresConnection.connect(try configuration.database())
        if arguments.isSet("status") || arguments.isSet("print") {
            let status = try await migrator.status(on: connection)
            if arguments.isSet("print") {
                print(migrator.script(applied: Set(status.filter(\.isApplied).map(\.version))), terminator: "")
            } else {
                for entry in status {
                    print("\(entry.version)  \(entry.isApplied ? "applied" : "missing")  \(entry.name)")
                }
            }
            return PushFanout.ExitStatus.done
        }
        let applied = try await migrator.migrate(on: connection)
        for migration in applied { print("applied migration \(migration.version): \(migration.name)") }
        print(applied.isEmpty ? "the schema push is up to date" : "the schema push is ready")
        return PushFanout.ExitStatus.done
    }
}
