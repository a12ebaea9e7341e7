import CommandLineArguments
import DeliveryQueue
import Glibc
import Postgres

import struct FoundationEssentials.Data
import class FoundationEssentials.JSONEncoder
import struct FoundationEssentials.UUID

/// `push-fanout notify`: an operator's `system` message, written into the app's table like any other notification.
enum NotifyCommand {
    static let declaration = Command(
        "notify", summary: "Sends an operator's message to one account, or to all.",
        flags: Setting.database.flatMap(\.flags) + [
            .value("account", "ID", "the account that is told"),
            .boolean("all", "tell every account"),
            .boolean("yes", "with --all: do not ask"),
            .value("title", "TEXT", "title, in English"),
            .value("body", "TEXT", "body, in English"),
            .value("title-nl", "TEXT", "title, in Dutch"),
            .value("body-nl", "TEXT", "body, in Dutch"),
        ],
        notes: "Run it as a role that is a member of push_operator.")

    /// Longer texts would be cut by every phone.
    private static let longestTitle = 200
    private static let longestBody = 2000

    static func run(_ configuration: Configuration, _ arguments: ParsedArguments) async throws -> Int32 {
        let title = try Self.text("title", longest: Self.longestTitle, arguments)
        let body = try Self.text("body", longest: Self.longestBody, arguments)
        guard let title else { throw arguments.usageError("--title is missing") }
        let dutch = Translation(
            title: try Self.text("title-nl", longest: Self.longestTitle, arguments),
            body: try Self.text("body-nl", longest: Self.longestBody, arguments))
        guard dutch.title != nil || dutch.body == nil else { throw arguments.usageError("--body-nl needs --title-nl") }
        let translations = dutch.title == nil ? nil : try Self.json(["nl": dutch])

        let account = arguments.value("account")
        guard (account != nil) != arguments.isSet("all") else {
            throw arguments.usageError("give either --account ID or --all")
        }
        let accountID = account.flatMap { UUID(uuidString: $0) }
        guard (account == nil) == (accountID == nil) else { throw arguments.usageError("--account is not a UUID") }
        let notifications = "\(try configuration.source().identifier).notifications"
        let accounts = "\(try configuration.source().identifier).accounts"
        let connection = try await PostgresConnection.connect(try configuration.database())
        let inserted: PostgresRows
        if let accountID {
            inserted = try await connection.query(
                """
                insert into \(unescaped: notifications) (account_id, kind, title, body, translations)
                select id, 'system', \(title), \(body as String?), \(translations as String?)::jsonb
                from \(unescaped: accounts) where id = \(accountID)::uuid
                """)
            guard inserted.affected == 1 else {
                PushFanout.printError("push-fanout: there is no such account")
                return PushFanout.ExitStatus.failed
            }
        } else {
            let isConfirmed = arguments.isSet("yes") ? true : try await Self.confirm(accounts, on: connection)
            guard isConfirmed else {
                PushFanout.printError("push-fanout: nothing was sent; give --yes where nobody can be asked")
                return PushFanout.ExitStatus.failed
            }
            // One statement: either all are told, or nobody. A million rows take some tens of seconds.
            inserted = try await connection.query(
                """
                insert into \(unescaped: notifications) (account_id, kind, title, body, translations)
                select id, 'system', \(title), \(body as String?), \(translations as String?)::jsonb
                from \(unescaped: accounts)
                """, deadline: .seconds(600))
        }
        print("queued for \(inserted.affected) account\(inserted.affected == 1 ? "" : "s")")
        return PushFanout.ExitStatus.done
    }

    private struct Translation: Encodable {
        var title: String?
        var body: String?
    }

    private static func json(_ translations: [String: Translation]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(translations), as: UTF8.self)
    }

    private static func text(
        _ flag: String, longest: Int, _ arguments: ParsedArguments
    ) throws(UsageError) -> String? {
        guard let text = arguments.value(flag) else { return nil }
        guard !text.trimmed.isEmpty else { throw arguments.usageError("--\(flag) is empty") }
        guard text.count <= longest else {
            throw arguments.usageError("--\(flag) is longer than \(longest) characters")
        }
        return text
    }

    /// Asks on a terminal; anywhere else `--yes` is needed.
    private static func confirm(_ accounts: String, on connection: PostgresConnection) async throws -> Bool {
        guard isatty(STDIN_FILENO) == 1 else { return false }
        let count = try await connection.query("select count(*) from \(unescaped: accounts)").first?.int(0) ?? 0
        PushFanout.printError("This tells \(count) accounts. Type yes to go on:")
        return readLine() == "yes"
    }
}
