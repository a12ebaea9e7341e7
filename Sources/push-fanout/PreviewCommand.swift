import APNS
import CommandLineArguments
import FCM
import Localization
import PushModel

import struct FoundationEssentials.Date
import class FoundationEssentials.JSONEncoder
import struct FoundationEssentials.UUID

/// `push-fanout preview`: the exact request of a kind, with made-up ids; nothing is sent.
enum PreviewCommand {
    static let declaration = Command(
        "preview", summary: "Shows the exact request of a kind; sends nothing.",
        flags: [
            .value("kind", "KIND", NotificationKind.all.map(\.name).joined(separator: ", ")),
            .value("locale", "TAG", "language of the device", default: "en"),
            .value("platform", "PLATFORM", "ios or android", default: "ios"),
            .value("actor", "NAME", "who did it", default: "Anna"),
            .value("pronoun", "WORD", "she, he or neutral", default: "neutral"),
            .value("categories", "LIST", "what changed, behind commas", default: "phone,address"),
            .value("title", "TEXT", "title of a system message"),
            .value("body", "TEXT", "body of a system message"),
            .value("badge", "N", "unread count", default: "1"),
            .boolean("json", "as JSON: method, path, headers, body, bytes"),
        ] + [Setting.templates, .apnsTopic, .apnsSound, .lifetime].flatMap(\.flags))

    private struct Shown: Encodable {
        var method = "POST"
        var path: String
        var headers: [String: String]
        var body: String
        var bytes: Int
    }

    static func run(_ configuration: Configuration, _ arguments: ParsedArguments) throws -> Int32 {
        let delivery = try Self.delivery(configuration, arguments)
        let path: String
        var headers: [(name: String, value: String)]
        let body: [UInt8]
        switch delivery.device.platform {
        case .ios:
            let sound = try configuration.values.text(.apnsSound, emptyCounts: true) ?? ""
            let text = try configuration.languages()
                .render(delivery.notification, kind: delivery.kind, locale: delivery.device.locale)
            let request = APNSRequest(
                delivery: delivery, text: text,
                topic: try configuration.values.text(.apnsTopic) ?? "com.example.app",
                sound: sound.isEmpty ? nil : sound)
            (path, headers, body) = (request.path, request.headers, request.body)
            headers.append(("authorization", "bearer <provider token>"))
        case .android:
            let request = FCMRequest(delivery: delivery, project: "<project>")
            (path, headers, body) = (request.path, request.headers, request.body)
            headers.append(("authorization", "Bearer <access token>"))
        }
        let text = String(decoding: body, as: UTF8.self)
        if arguments.isSet("json") {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let shown = Shown(
                path: path, headers: Dictionary(headers, uniquingKeysWith: { $1 }), body: text, bytes: body.count)
            print(String(decoding: try encoder.encode(shown), as: UTF8.self))
        } else {
            print("POST \(path)")
            for (name, value) in headers { print("\(name): \(value)") }
            print("\n\(text)\n\n\(body.count) bytes")
        }
        return PushFanout.ExitStatus.done
    }

    /// A delivery as the worker would make it, with ids that are plainly made up.
    private static func delivery(_ configuration: Configuration, _ arguments: ParsedArguments) throws -> Delivery {
        guard let kindName = arguments.value("kind") else { throw arguments.usageError("--kind is missing") }
        guard let kind = NotificationKind(named: kindName) else {
            throw arguments.usageError(
                "--kind must be one of " + NotificationKind.all.map(\.name).joined(separator: ", "))
        }
        let choices = Platform.allCases.map(\.rawValue)
        let platform = Platform(rawValue: try arguments.choice("platform", of: choices) ?? "ios") ?? .ios
        let pronoun = try arguments.choice("pronoun", of: Pronoun.allCases.map(\.rawValue))
        let categories = (arguments.value("categories") ?? "phone,address").split(separator: ",")
        let now = Date()
        let device = Device(
            id: UUID(uuidString: "d0000000-0000-4000-8000-000000000000") ?? UUID(), platform: platform,
            pushToken: platform == .ios ? String(repeating: "0", count: 64) : "<registration token>",
            locale: arguments.value("locale") ?? "en")
        let stored = platform == .ios ? String(repeating: "0", count: 64) : "<registration-token>"
        let notification = Notification(
            id: UUID(uuidString: "a0000000-0000-4000-8000-000000000000") ?? UUID(),
            accountID: UUID(uuidString: "b0000000-0000-4000-8000-000000000000") ?? UUID(), kindName: kind.name,
            connectionID: UUID(uuidString: "c0000000-0000-4000-8000-000000000000"),
            actorName: arguments.value("actor") ?? "Anna", actorPronoun: Pronoun(column: pronoun),
            categories: categories.map(String.init), title: arguments.value("title"), body: arguments.value("body"),
            createdAt: now)
        let lifetime = try configuration.lifetimes()[kind] ?? .seconds(28 * 86_400)
        return Delivery(
            id: UUID(uuidString: "e0000000-0000-4000-8000-000000000000") ?? UUID(), notification: notification,
            kind: kind, device: device, token: try DeviceToken(stored: stored, platform: platform),
            badge: try arguments.integer("badge", in: 0...1_000_000) ?? 1,
            expiresAt: now.addingTimeInterval(lifetime.inSeconds))
    }
}
