import Delivery
import DeliveryQueue
import Postgres

/// The part of `check` about the database.
enum DatabaseCheck {
    typealias Finding = CheckCommand.Finding

    private static let subject = "database"

    static func findings(_ configuration: Configuration) async -> [Finding] {
        let database: PostgresConfiguration
        let source: SourceSchema
        do {
            database = try configuration.database()
            source = try configuration.source()
        } catch {
            return [.failed(Self.subject, "\(error)", fix: nil)]
        }
        do {
            let connection = try await PostgresConnection.connect(database)
            var findings: [Finding] = [
                .ok(Self.subject, "connected, PostgreSQL \((await connection.serverVersion ?? 0) / 10_000)")
            ]
            findings += try await Self.schema(source, on: connection)
            findings += try await Self.table(source, on: connection)
            findings += await Self.listen(database, on: connection)
            await connection.close()
            return findings
        } catch let error as PostgresError where error.isConnectionLoss {
            return [.failed(Self.subject, "\(error)", fix: "check DATABASE_URL and that the server is up")]
        } catch {
            return [.failed(Self.subject, "\(error)", fix: nil)]
        }
    }

    private static func schema(_ source: SourceSchema, on connection: PostgresConnection) async throws -> [Finding] {
        do {
            let missing = try await Migrator(source: source).status(on: connection).filter { !$0.isApplied }
            guard missing.isEmpty else {
                return [.failed("schema", "\(missing.count) migration(s) missing", fix: "run push-fanout migrate")]
            }
        } catch let error as PostgresError where error.sqlState == "42501" {
            return [
                .failed("schema", error.message, fix: "grant push_worker to the role in DATABASE_URL")
            ]
        } catch let refusal as Migrator.Refusal {
            return [.failed("schema", "\(refusal)", fix: nil)]
        }
        let rights = try await connection.query(
            """
            select pg_has_role('push_worker', 'usage') or has_table_privilege('push.outbox', 'delete'),
                current_setting('default_transaction_isolation'), current_setting('transaction_read_only') = 'on'
            """)
        guard let row = rights.first else { return [] }
        if try !row.bool(0) {
            return [
                .failed("schema", "no right to work the queue", fix: "grant push_worker to the role in DATABASE_URL")
            ]
        }
        if try row.bool(2) {
            return [
                .failed(
                    "schema", "the server takes no writes (a standby?)",
                    fix: "add target_session_attrs=read-write to DATABASE_URL")
            ]
        }
        return [.ok("schema", "push is up to date")]
    }

    /// The app's tables: there, readable through row-level security, and with the trigger.
    private static func table(_ source: SourceSchema, on connection: PostgresConnection) async throws -> [Finding] {
        var findings: [Finding] = []
        for (table, commands) in [("notifications", ["r"]), ("accounts", ["r"]), ("devices", ["r", "w"])] {
            let name = "\(source.identifier).\(table)"
            let row = try await connection.query(
                """
                select to_regclass(\(name)) is not null,
                    coalesce(has_table_privilege(to_regclass(\(name)), 'select'), false),
                    coalesce(row_security_active(to_regclass(\(name))), false)
                        and exists (
                            select from unnest(\(commands)::text[]) as c (command)
                            where not exists (
                                select from pg_policy p
                                where p.polrelid = to_regclass(\(name)) and p.polcmd::text in (c.command, '*')
                                    and (p.polroles = '{0}' or exists (
                                        select from unnest(p.polroles) r where pg_has_role(r, 'usage')))
                            )
                        )
                """
            ).first
            guard let row else { continue }
            let shown = "\(source.name).\(table)"
            if try !row.bool(0) {
                findings.append(.failed("tables", "there is no \(shown)", fix: "create it, or set PUSH_SOURCE_SCHEMA"))
            } else if try !row.bool(1) {
                findings.append(
                    .failed("tables", "\(shown) cannot be read", fix: "run push-fanout migrate, which grants it"))
            } else if try row.bool(2) {
                findings.append(
                    .failed(
                        "tables", "row-level security hides \(shown)",
                        fix: "run push-fanout migrate, which makes the policies that let push_worker through"))
            }
        }
        guard findings.isEmpty else { return findings }
        findings.append(.ok("tables", "notifications, accounts and devices can be read"))
        findings.append(try await Self.trigger(source, on: connection))
        return findings
    }

    private static func trigger(_ source: SourceSchema, on connection: PostgresConnection) async throws -> Finding {
        let name = "\(source.identifier).notifications"
        let row = try await connection.query(
            """
            select c.relkind::text in ('r', 'p'), exists (
                    select from pg_trigger t
                    where t.tgrelid = c.oid and t.tgfoid = to_regproc('push.enqueue') and t.tgenabled in ('O', 'A')
                ), exists (
                    select from pg_trigger t where t.tgrelid = c.oid and t.tgfoid = to_regproc('push.enqueue')
                )
            from pg_class c where c.oid = to_regclass(\(name))
            """
        ).first
        guard let row, try row.bool(0) else {
            let behind = try await connection.query(
                "select exists (select from pg_trigger where tgfoid = to_regproc('push.enqueue') and tgenabled in ('O', 'A'))"
            ).first?.bool(0)
            if behind == true {
                return .ok("trigger", "\(source.name).notifications is a view; a table behind it has it")
            }
            return .warning(
                "trigger", "\(source.name).notifications is a view, which cannot have it",
                fix: "put the trigger on the table behind it, see the README")
        }
        if try row.bool(1) { return .ok("trigger", "new notifications reach the outbox") }
        if try row.bool(2) {
            return .failed(
                "trigger", "push_enqueue on \(source.name).notifications is disabled",
                fix: "alter table \(source.name).notifications enable trigger push_enqueue")
        }
        return .failed("trigger", "missing on \(source.name).notifications", fix: "run push-fanout migrate")
    }

    /// A NOTIFY to oneself: behind a transaction pooler LISTEN is accepted and nothing ever arrives.
    private static func listen(_ database: PostgresConfiguration, on connection: PostgresConnection) async -> [Finding]
    {
        let prober = DatabaseSession(database)
        do {
            let arrives = try await OutboxListener.notificationsArrive(on: connection, prober: prober)
            await prober.close()
            guard arrives else {
                return [
                    .failed(
                        "listen", "LISTEN is accepted but no notification arrives (a transaction pooler?)",
                        fix: "use the direct or session-mode port, 5432 rather than 6543 at Supabase")
                ]
            }
            return [.ok("listen", "a notification arrives")]
        } catch {
            await prober.close()
            return [.failed("listen", "\(error)", fix: "use a direct or session-mode connection to the primary")]
        }
    }

}
