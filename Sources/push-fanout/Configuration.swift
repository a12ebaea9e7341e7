import APNS
import Delivery
import DeliveryQueue
import FCM
import Localization
import Observability
import Postgres
import PushModel

import class FoundationEssentials.FileManager

/// Every value of the configuration, read and checked, part by part: a command takes the parts it needs.
struct Configuration: Sendable {
    let values: SettingValues

    struct APNS: Sendable {
        var credentials: APNSCredentials
        var topic: String
        var sound: String?
        var url: String
        var developmentURL: String
    }

    struct FCM: Sendable {
        var account: ServiceAccount
        var url: String
    }

    // MARK: - Database

    func database() throws(ConfigurationError) -> PostgresConfiguration {
        let text = try self.values.required(
            .databaseURL, example: "postgresql://push_fanout@db.example.com:5432/postgres")
        do throws(PostgresError) {
            return try PostgresConfiguration(text.trimmed)
        } catch {
            throw ConfigurationError(
                .databaseURL, "is not a libpq connection string (\(error.message))",
                example: "postgresql://push_fanout@db.example.com:5432/postgres")
        }
    }

    func source() throws(ConfigurationError) -> SourceSchema {
        let name = try self.values.text(.sourceSchema) ?? "public"
        do throws(SourceSchema.Invalid) {
            return try SourceSchema(name)
        } catch {
            throw ConfigurationError(.sourceSchema, "is not a name: \(error)", example: "public")
        }
    }

    // MARK: - Texts

    /// PUSH_TEMPLATES, or the first of the usual places that is there.
    func templatesDirectory() throws(ConfigurationError) -> String {
        let given = try self.values.text(.templates) ?? "templates"
        guard given == Setting.templates.defaultText else { return given }
        let places = ["templates", "/etc/push-fanout/templates", "/usr/share/push-fanout/templates"]
        return places.first { FileManager.default.fileExists(atPath: $0 + "/en.json") } ?? given
    }

    func languages() throws(ConfigurationError) -> LanguageCatalog {
        let directory = try self.templatesDirectory()
        do throws(LanguageError) {
            return try LanguageCatalog.load(directory: directory)
        } catch {
            throw ConfigurationError("PUSH_TEMPLATES (\(directory)): \(error)")
        }
    }

    // MARK: - Providers

    /// Nil when APNs is not configured: none of its four variables is given.
    func apns() throws(ConfigurationError) -> APNS? {
        let needed: [Setting] = [.apnsKey, .apnsKeyID, .apnsTeamID, .apnsTopic]
        var given: [String: String] = [:]
        for setting in needed { given[setting.name] = try self.values.text(setting) }
        guard !given.isEmpty else { return nil }
        if let missing = needed.first(where: { given[$0.name] == nil }) {
            throw ConfigurationError(
                missing, "is not set: APNs needs APNS_KEY, APNS_KEY_ID, APNS_TEAM_ID and APNS_TOPIC",
                example: Self.apnsExamples[missing.name] ?? "")
        }
        let topic = (given[Setting.apnsTopic.name] ?? "").trimmed
        guard topic.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") }), !topic.isEmpty
        else { throw ConfigurationError(.apnsTopic, "is not a bundle id", example: "com.example.app") }
        let credentials: APNSCredentials
        do throws(APNSCredentialsError) {
            credentials = try APNSCredentials(
                pem: given[Setting.apnsKey.name] ?? "", keyID: (given[Setting.apnsKeyID.name] ?? "").trimmed,
                teamID: (given[Setting.apnsTeamID.name] ?? "").trimmed)
        } catch {
            throw ConfigurationError("\(error)")
        }
        let sound = try self.values.text(.apnsSound, emptyCounts: true) ?? ""
        return APNS(
            credentials: credentials, topic: topic, sound: sound.isEmpty ? nil : sound,
            url: try self.values.address(.apnsURL), developmentURL: try self.values.address(.apnsDevelopmentURL))
    }

    private static let apnsExamples = [
        Setting.apnsKey.name: "\"$(cat AuthKey_ABC123DEFG.p8)\"", Setting.apnsKeyID.name: "ABC123DEFG",
        Setting.apnsTeamID.name: "DEF123GHIJ", Setting.apnsTopic.name: "com.example.app",
    ]

    /// Nil when FCM is not configured.
    func fcm() throws(ConfigurationError) -> FCM? {
        guard let path = try self.values.text(.googleCredentials) else { return nil }
        let json = try SettingValues.read(path, for: .googleCredentials)
        let url = try self.values.address(.fcmURL)
        do throws(ServiceAccountError) {
            return FCM(account: try ServiceAccount(json: Array(json.utf8)), url: url)
        } catch {
            throw ConfigurationError("\(error) (read from \(path))")
        }
    }

    func caFile() throws(ConfigurationError) -> String? {
        guard let path = try self.values.text(.caFile) else { return nil }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ConfigurationError(.caFile, "names no readable file", example: "/etc/ssl/certs/ca-certificates.crt")
        }
        return path
    }

    // MARK: - Working

    /// Lifetimes by kind: a time, and kinds with a time of their own behind commas.
    func lifetimes() throws(ConfigurationError) -> [NotificationKind: Duration] {
        let text = try self.values.text(.lifetime) ?? ""
        let fault = ConfigurationError(
            .lifetime, "must be a time up to 28d, and kinds with their own behind commas",
            example: "28d,contact_updated=2d")
        var general: Duration?
        var own: [NotificationKind: Duration] = [:]
        for part in text.split(separator: ",") {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false).map { String($0).trimmed }
            guard let time = Duration(configuration: sides.last ?? ""), time > .zero, time <= .seconds(28 * 86_400)
            else {
                throw fault
            }
            switch sides.count {
            case 1 where general == nil: general = time
            case 2:
                guard let kind = NotificationKind(named: sides[0]), own[kind] == nil else { throw fault }
                own[kind] = time
            default: throw fault
            }
        }
        guard let general = general ?? (own.isEmpty ? nil : .seconds(28 * 86_400)) else { throw fault }
        return Dictionary(uniqueKeysWithValues: NotificationKind.all.map { ($0, own[$0] ?? general) })
    }

    func delivery() throws(ConfigurationError) -> DeliverySettings {
        let lifetimes = try self.lifetimes()
        var settings = DeliverySettings(source: try self.source()) { lifetimes[$0] ?? .seconds(28 * 86_400) }
        settings.lease = try self.values.duration(.lease, in: .seconds(3)...(.seconds(3600)))
        settings.heartbeat = min(settings.heartbeat, settings.lease / 3)
        settings.poll = try self.values.duration(.poll, in: .milliseconds(50)...(.seconds(60)))
        settings.pollWithoutListen = min(settings.pollWithoutListen, settings.poll)
        settings.sweepAge = try self.values.duration(.sweepAge, in: .seconds(60)...(.seconds(28 * 86_400)))
        settings.keep = try self.keep()
        settings.drainLimit = try self.values.duration(.drain, in: .zero...(.seconds(600)))
        return settings
    }

    /// How long the history is kept.
    func keep() throws(ConfigurationError) -> Duration {
        let keep = try self.values.duration(.keep, in: .seconds(2 * 86_400)...(.seconds(3650 * 86_400)))
        let least = try self.leastKeep()
        guard keep >= least else {
            throw ConfigurationError(
                .keep,
                "must be \(Self.days(least)) at least: \(Self.whyKeep)", example: "30d")
        }
        return keep
    }

    /// Two days more than anybody may tell of a notification that is still worth a push.
    func leastKeep() throws(ConfigurationError) -> Duration {
        let sweepAge = try self.values.duration(.sweepAge, in: .seconds(60)...(.seconds(28 * 86_400)))
        let lifetime = try self.lifetimes().values.max() ?? .zero
        return max(sweepAge, lifetime) + HistoryPruning.leastBeyond
    }

    /// What a shorter history would do.
    static let whyKeep =
        "two days more than the longest PUSH_LIFETIME and PUSH_SWEEP_AGE, or a notification whose decision is gone would be "
        + "taken for new, by the sweep or by a webhook that is sent again, and pushed twice"

    /// Whole days, rounded up: `3d`.
    static func days(_ duration: Duration) -> String { "\((duration.components.seconds + 86_399) / 86_400)d" }

    func log(environment: [String: String]) throws(ConfigurationError) -> Log {
        let levelText = try self.values.text(.logLevel) ?? "info"
        guard let level = Log.Level(name: levelText) else {
            throw ConfigurationError(
                .logLevel, "must be one of " + Log.Level.allCases.map(\.name).joined(separator: ", "), example: "info")
        }
        return Log(
            level: level, format: try self.values.choice(.logFormat, Log.Format.self),
            underJournal: environment["JOURNAL_STREAM"] != nil)
    }
}

extension String {
    /// Without white space at its ends: values often come with a newline.
    var trimmed: String {
        let start = self.drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
