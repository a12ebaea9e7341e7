import CommandLineArguments
import Delivery
import DeliveryQueue
import Postgres
import QueueInspection

/// `push-fanout prune`: ends the history that is old. Workers do the same once an hour; this is for those who want it now,
/// or of another age.
enum PruneCommand {
    static let declaration = Command(
        "prune", summary: "Deletes decisions and tries that are older than PUSH_KEEP.",
        flags: Setting.database.flatMap(\.flags) + Setting.keep.flags + Setting.sweepAge.flags
            + Setting.lifetime.flags + [
                .value("older-than", "TIME", "instead of PUSH_KEEP, such as 30d"),
                .boolean(
                    "notifications",
                    "also delete old notifications, with the app's prune_notifications(); as the owner of its tables"),
            ],
        notes:
            "Run it as a role that is a member of push_operator or push_worker. Nothing that open work refers to is deleted."
    )

    /// A million rows of the app's table take their time.
    private static let notificationDeadline = Duration.seconds(600)

    static func run(_ configuration: Configuration, _ arguments: ParsedArguments) async throws -> Int32 {
        var keep = try configuration.keep()
        if let text = arguments.value("older-than") {
            guard let age = Duration(configuration: text) else {
                throw arguments.usageError("--older-than must be a time such as 30d or 72h")
            }
            let least = try configuration.leastKeep()
            guard age >= least else {
                throw arguments.usageError(
                    "--older-than must be \(Configuration.days(least)) at least: \(Configuration.whyKeep)")
            }
            keep = age
        }
        let source = try configuration.source()
        let connection = try await PostgresConnection.connect(try configuration.database())
        let report = try await HistoryPruning(keep: keep).run { try await connection.query($0) }
        for name in report.partitions { print("dropped push.\(name)") }
        print("\(report.partitions.count) partitions dropped, \(report.rows) other rows deleted")
        try await QueueActions.notePruning(report, actor: QueueCommand.actor, on: connection)
        var status = PushFanout.ExitStatus.done
        if report.wasHeldUp {
            PushFanout.printError("push-fanout: somebody reads the history (a dump?) and holds it: try again later")
            status = PushFanout.ExitStatus.failed
        }
        if arguments.isSet("notifications") {
            status = max(status, try await Self.notifications(source, on: connection))
        }
        await connection.close()
        return status
    }

    private static func notifications(_ source: SourceSchema, on connection: PostgresConnection) async throws -> Int32 {
        let name = "\(source.identifier).prune_notifications(interval)"
        guard try await connection.query("select to_regprocedure(\(name)) is not null").single().bool(0) else {
            PushFanout.printError(
                """
                push-fanout: there is no function \(name): notifications are the app's to delete. \
                deploy/sql/reference has one to copy
                """)
            return PushFanout.ExitStatus.failed
        }
        let deleted = try await connection.query(
            "select \(unescaped: source.identifier).prune_notifications()", deadline: Self.notificationDeadline
        ).single().int(0)
        print("deleted \(deleted) notifications")
        return PushFanout.ExitStatus.done
    }
}
