package import Postgres

/// Ends the history of what is over: whole days of decisions and tries, and old rows of the small tables. Never what open
/// work refers to; the functions of the schema see to that, whoever calls them.
package struct HistoryPruning: Sendable {
    /// How long it is kept.
    package var keep: Duration

    package static let defaultKeep = Duration.seconds(30 * 86_400)
    /// The sweep and the webhook ask the history whether a notification is new: it must be there for longer than the sweep
    /// looks back, and than a notification is worth a push.
    package static let leastBeyond = Duration.seconds(2 * 86_400)
    private static let triesForLock = 3

    /// How many days, and how many slices of rows, one run ends at most.
    package var mostCalls: Int

    package init(keep: Duration, mostCalls: Int = 1000) {
        self.keep = keep
        self.mostCalls = mostCalls
    }

    /// What one run did.
    package struct Report: Equatable, Sendable {
        /// Names of the partitions that are gone.
        package var partitions: [String] = []
        package var rows = 0
        /// Whether somebody who reads the history (a dump) kept it from going on; the next run does.
        package var wasHeldUp = false

        package var isEmpty: Bool { self.partitions.isEmpty && self.rows == 0 }
    }

    /// Drops day after day, each in a transaction of its own that waits 200 ms at most for its lock.
    package func run(_ query: (PostgresQuery) async throws -> PostgresRows) async throws -> Report {
        var report = Report()
        var tries = 0
        for _ in 0..<self.mostCalls {
            do {
                let row = try await query("select push.prune_partition(\(self.keep)::interval)").single()
                guard let name = try row.optionalText(0) else { break }
                report.partitions.append(name)
                tries = 0
            } catch let error as PostgresError where error.sqlState == "55P03" {
                tries += 1
                report.wasHeldUp = tries == Self.triesForLock
                guard !report.wasHeldUp else { break }
                try await Task.sleep(for: .milliseconds(300))
            }
        }
        for _ in 0..<self.mostCalls {
            let deleted = try await query("select push.prune_rows(\(self.keep)::interval)").single().int(0)
            guard deleted > 0 else { break }
            report.rows += deleted
        }
        return report
    }
}
