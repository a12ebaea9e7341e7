internal import DeliveryQueue
internal import Postgres

@testable internal import QueueInspection

extension QueueReader {
    /// What it must not be able to do.
    func databaseWrites() async throws {
        _ = try await self.run("insert into push.audit (actor, action, target_kind) values ('x', 'retry', 'history')")
    }
}
