import CommandLineArguments

/// One thing that can be configured: an environment variable, and a flag of the same name.
struct Setting: Sendable {
    /// Of the environment variable; the flag is the same in lower case with dashes.
    let name: String
    let placeholder: String
    let summary: String
    let defaultText: String?
    /// Secrets can also be given as `NAME_FILE`, the path of a file that holds the value.
    let isSecret: Bool

    private init(
        _ name: String, _ placeholder: String, _ summary: String, default text: String? = nil, secret: Bool = false
    ) {
        self.name = name
        self.placeholder = placeholder
        self.summary = summary
        self.defaultText = text
        self.isSecret = secret
    }

    var flagName: String { self.name.lowercased().replacing("_", with: "-") }
    var fileName: String { self.name + "_FILE" }

    /// For the help and the parser; a secret has two.
    var flags: [Flag] {
        let flag = Flag.value(
            self.flagName, self.placeholder, "\(self.summary) (\(self.name))", default: self.defaultText)
        guard self.isSecret else { return [flag] }
        return [flag, .value(self.flagName + "-file", "PATH", "file that holds it (\(self.fileName))")]
    }

    // MARK: - All of them

    static let databaseURL = Setting(
        "DATABASE_URL", "URL", "PostgreSQL, as a libpq URI; several hosts may be named", secret: true)
    static let sourceSchema = Setting(
        "PUSH_SOURCE_SCHEMA", "NAME", "schema of the app's tables or views", default: "public")
    static let templates = Setting(
        "PUSH_TEMPLATES", "DIRECTORY", "directory of the language files", default: "templates")
    static let apnsKey = Setting(
        "APNS_KEY", "PEM", "the .p8 key, PKCS#8 or SEC1; newlines may be written \\n", secret: true)
    static let apnsKeyID = Setting("APNS_KEY_ID", "ID", "key id, 10 characters")
    static let apnsTeamID = Setting("APNS_TEAM_ID", "ID", "team id, 10 characters")
    static let apnsTopic = Setting("APNS_TOPIC", "BUNDLE", "the app's bundle id")
    static let apnsSound = Setting("APNS_SOUND", "NAME", "sound of an alert; empty for silent", default: "default")
    static let apnsURL = Setting(
        "APNS_URL", "URL", "address of APNs, production", default: "https://api.push.apple.com")
    static let apnsDevelopmentURL = Setting(
        "APNS_DEVELOPMENT_URL", "URL", "address of APNs, development", default: "https://api.sandbox.push.apple.com")
    static let googleCredentials = Setting(
        "GOOGLE_APPLICATION_CREDENTIALS", "PATH", "service-account JSON of the Firebase project")
    static let fcmURL = Setting("FCM_URL", "URL", "address of FCM", default: "https://fcm.googleapis.com")
    static let caFile = Setting("PUSH_CA_FILE", "PATH", "CA certificates instead of the system's, for the simulator")
    static let lifetime = Setting(
        "PUSH_LIFETIME", "TIME", "how long a notification is worth a push, such as 28d or 28d,contact_updated=2d",
        default: "28d")
    static let window = Setting(
        "PUSH_WINDOW", "N", "most requests in flight on one connection; FCM never more than 100", default: "500")
    static let connections = Setting("PUSH_CONNECTIONS", "N", "most connections to one host", default: "2")
    static let requestTimeout = Setting(
        "PUSH_REQUEST_TIMEOUT", "TIME", "how long a provider may take to answer; FCM wants 10s at least", default: "30s"
    )
    static let sweepAge = Setting(
        "PUSH_SWEEP_AGE", "TIME", "how far back notifications are looked for that never reached the outbox",
        default: "1d")
    static let keep = Setting(
        "PUSH_KEEP", "TIME",
        "how long decisions and tries are kept; two days more than PUSH_LIFETIME and PUSH_SWEEP_AGE at least",
        default: "30d")
    static let lease = Setting(
        "PUSH_LEASE", "TIME", "after how long without a sign of life a worker's batch goes to another", default: "60s")
    static let poll = Setting(
        "PUSH_POLL", "TIME", "how often to look for work when nothing wakes the worker", default: "1s")
    static let drain = Setting(
        "PUSH_DRAIN", "TIME", "how long a stopping worker waits for what is in flight", default: "25s")
    static let listen = Setting(
        "PUSH_LISTEN", "ADDRESS", "where the webhook, health, metrics and the dashboard are served; off for nowhere",
        default: "127.0.0.1:8470")
    static let webhookSecret = Setting(
        "PUSH_WEBHOOK_SECRET", "SECRET", "what the database webhook sends along; without it there is no webhook",
        secret: true)
    static let operatorToken = Setting(
        "PUSH_OPERATOR_TOKEN", "TOKEN", "token that may look and act on the dashboard", secret: true)
    static let viewerToken = Setting("PUSH_VIEWER_TOKEN", "TOKEN", "token that may look at the dashboard", secret: true)
    static let logLevel = Setting("LOG_LEVEL", "LEVEL", "debug, info, notice, warning or error", default: "info")
    static let logFormat = Setting("LOG_FORMAT", "FORMAT", "logfmt or json", default: "logfmt")

    static let database = [databaseURL, sourceSchema]
    static let logging = [logLevel, logFormat]
    static let providers = [
        apnsKey, apnsKeyID, apnsTeamID, apnsTopic, apnsSound, apnsURL, apnsDevelopmentURL, googleCredentials, fcmURL,
        caFile,
    ]
    static let serving = [listen, webhookSecret, operatorToken, viewerToken]
    static let working = [lifetime, window, connections, requestTimeout, sweepAge, keep, lease, poll, drain]
}
