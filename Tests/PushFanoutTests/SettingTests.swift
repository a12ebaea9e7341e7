internal import CommandLineArguments
internal import Delivery
internal import DeliveryQueue
internal import Observability
internal import Postgres
internal import PushModel
internal import Testing

@testable internal import push_fanout

@Suite struct SettingValuesTests {
    @Test func `the flag wins over the variable, and the variable over the default`() throws {
        let variables = ["PUSH_WINDOW": "20", "PUSH_SOURCE_SCHEMA": "app"]
        #expect(try Given.configuration().values.integer(.window, in: 1...10_000) == 500)
        #expect(try Given.configuration(variables).values.integer(.window, in: 1...10_000) == 20)
        let flags = try Given.configuration(
            variables, arguments: ["--push-window", "30", "--push-source-schema=other"])
        #expect(try flags.values.integer(.window, in: 1...10_000) == 30)
        #expect(try flags.source().name == "other")
    }

    @Test func `an empty variable is one that is not given, but for the sound`() throws {
        let empty = [
            "PUSH_WINDOW": "", "DATABASE_URL": "", "PUSH_SOURCE_SCHEMA": "", "PUSH_LIFETIME": "", "APNS_KEY": "",
        ]
        let configuration = try Given.configuration(empty)
        #expect(try configuration.values.integer(.window, in: 1...10_000) == 500)
        #expect(try configuration.values.text(.databaseURL) == nil)
        #expect(try configuration.source().name == "public")
        #expect(try configuration.lifetimes()[.system] == .seconds(28 * 86_400))
        #expect(try configuration.apns() == nil)
        #expect(try Given.configuration(Given.apns()).apns()?.sound == "default")
        #expect(try Given.configuration(Given.apns(["APNS_SOUND": ""])).apns()?.sound == nil)
        #expect(try Given.configuration(Given.apns(["APNS_SOUND": "ping.caf"])).apns()?.sound == "ping.caf")
        #expect(try Given.configuration(Given.apns(), arguments: ["--apns-sound", ""]).apns()?.sound == nil)
    }

    @Test func `a secret is read from the file that NAME_FILE or its flag names`() throws {
        let url = "postgresql://u:secret@h/db"
        try Given.withFile(url + "\n") { path in
            let variable = try Given.configuration(["DATABASE_URL_FILE": path])
            #expect("\(try variable.database())" == "h/db as u")
            let flag = try Given.configuration(arguments: ["--database-url-file", path])
            #expect("\(try flag.database())" == "h/db as u")
            // In order: the flag, the file's flag, the variable, the variable's file.
            let other = "postgresql://other/db"
            #expect(
                "\(try Given.configuration(["DATABASE_URL": other, "DATABASE_URL_FILE": path]).database())"
                    == "other/db")
            let both = try Given.configuration(["DATABASE_URL": other], arguments: ["--database-url-file", path])
            #expect("\(try both.database())" == "h/db as u")
            // An empty variable, as a compose file leaves it, does not hide the file.
            #expect(
                "\(try Given.configuration(["DATABASE_URL": "", "DATABASE_URL_FILE": path]).database())" == "h/db as u")
        }
    }

    @Test func `what is no secret has no file`() throws {
        #expect(
            try Given.configuration(["PUSH_WINDOW_FILE": "/etc/passwd"]).values.integer(.window, in: 1...9999) == 500)
        #expect(throws: UsageError.self) { try Given.configuration(arguments: ["--push-window-file", "/etc/passwd"]) }
    }

    @Test func `a file that cannot be read, is no text or is too large is named`() throws {
        let path = "/tmp/there/is/no/such/file"
        let missing = try Complaint { _ = try Given.configuration(["DATABASE_URL_FILE": path]).database() }
        #expect(missing.isOneLine(about: "DATABASE_URL"))
        #expect(missing.text.contains(path))
        try Given.withFile([0x70, 0xFF, 0xFE]) { path in
            let binary = try Complaint { _ = try Given.configuration(["DATABASE_URL_FILE": path]).database() }
            #expect(binary.isOneLine(about: "DATABASE_URL") && binary.text.contains(path))
        }
        try Given.withFile([UInt8](repeating: 0x61, count: 1 << 20 + 1)) { path in
            let large = try Complaint { _ = try Given.configuration(["DATABASE_URL_FILE": path]).database() }
            #expect(large.isOneLine(about: "DATABASE_URL") && large.text.contains("1 MiB"))
        }
        let folder = try Complaint { _ = try Given.configuration(["DATABASE_URL_FILE": "/tmp"]).database() }
        #expect(folder.isOneLine(about: "DATABASE_URL"))
    }

    /// A password file that came out empty must not lead to whatever database libpq finds by itself.
    @Test func `an empty file or flag is a fault, not a default`() throws {
        try Given.withFile(" \n") { path in
            let file = try Complaint { _ = try Given.configuration(["DATABASE_URL_FILE": path]).database() }
            #expect(file.isOneLine(about: "DATABASE_URL") && file.hasExample)
        }
        let flag = try Complaint { _ = try Given.configuration(arguments: ["--database-url", ""]).database() }
        #expect(flag.isOneLine(about: "DATABASE_URL") && flag.hasExample)
    }

    @Test(arguments: ["0", "10001", "-1", "1.5", "five", " 5", "5 ", "0x10", "99999999999999999999", "5\n"])
    func `a number that is none or out of range is refused with the range`(_ text: String) throws {
        let complaint = try Complaint {
            _ = try Given.configuration(["PUSH_WINDOW": text]).values.integer(.window, in: 1...10_000)
        }
        #expect(complaint.isOneLine(about: "PUSH_WINDOW") && complaint.hasExample)
        #expect(complaint.text.contains("1 to 10000"))
    }

    @Test func `every setting has a flag of its name, a summary, and is told once in the help`() throws {
        let settings =
            Setting.database + Setting.providers + [.templates] + Setting.working + Setting.serving + Setting.logging
        #expect(Set(settings.map(\.name)).count == settings.count)
        let help = try #require(try PushFanout.command.parse(["run", "--help"]).help)
        for setting in settings {
            #expect(setting.flagName == setting.name.lowercased().replacing("_", with: "-"))
            #expect(help.contains("--\(setting.flagName) "), "\(setting.name)")
            #expect(help.contains("(\(setting.name))"), "\(setting.name)")
            #expect(help.contains("(\(setting.fileName))") == setting.isSecret, "\(setting.name)")
        }
        #expect(
            settings.filter(\.isSecret).map(\.name) == [
                "DATABASE_URL", "APNS_KEY", "PUSH_WEBHOOK_SECRET", "PUSH_OPERATOR_TOKEN", "PUSH_VIEWER_TOKEN",
            ])
    }
}

@Suite struct ConfigurationTests {
    struct Wrong: CustomTestStringConvertible, Sendable {
        var name: String
        var value: String
        var read: @Sendable (Configuration) throws -> Void
        var testDescription: String { "\(self.name)=\(self.value.prefix(40))" }

        init(_ name: String, _ values: [String], _ read: @escaping @Sendable (Configuration) throws -> Void) {
            self.name = name
            self.value = values[0]
            self.read = read
        }

        static func each(
            _ name: String, _ values: [String], _ read: @escaping @Sendable (Configuration) throws -> Void
        ) -> [Wrong] {
            values.map { Wrong(name, [$0], read) }
        }
    }

    static let wrong: [Wrong] =
        Wrong.each("DATABASE_URL", ["postgresql://u:p@ss@h/db", "host='h", "nonsense", "mysql://h/db"]) {
            _ = try $0.database()
        }
        + Wrong.each("PUSH_SOURCE_SCHEMA", [String(repeating: "x", count: 64)]) { _ = try $0.source() }
        + Wrong.each(
            "PUSH_LIFETIME",
            [
                "29d", "0s", "28", "d", "28d,28d", "28d,nothing=2d", "28d,system", "28d,system=", "28d,system=29d",
                "system=1d,system=2d", "28d,system=1d=2d", "=1d", ",",
            ]
        ) { _ = try $0.lifetimes() }
        + Wrong.each("PUSH_LEASE", ["2s", "2h", "60", "soon"]) { _ = try $0.delivery() }
        + Wrong.each("PUSH_POLL", ["49ms", "61s", "0s", "1"]) { _ = try $0.delivery() }
        + Wrong.each("PUSH_DRAIN", ["601s", "-1s", "never"]) { _ = try $0.delivery() }
        + Wrong.each("LOG_LEVEL", ["verbose", "INFO", "info "]) { _ = try $0.log(environment: [:]) }
        + Wrong.each("LOG_FORMAT", ["text", "JSON", "logfmt,json"]) { _ = try $0.log(environment: [:]) }
        + Wrong.each("APNS_TOPIC", ["com example", "com.exämple", "com/example", "a\u{0}b"]) { _ = try $0.apns() }
        + Wrong.each("APNS_KEY_ID", ["ABC123DEF", "ABC123DEFGH", "abc123defg", "ABC123DEF!", "ÀBC123DEFG"]) {
            _ = try $0.apns()
        }
        + Wrong.each("APNS_TEAM_ID", ["short", "DEF123GHI-", "def123ghij"]) { _ = try $0.apns() }
        + Wrong.each(
            "APNS_URL",
            [
                "http://api.push.apple.com", "api.push.apple.com", "https://", "https://h/3/device", "https://a b",
                "ftp://h", "https:///",
            ]
        ) { _ = try $0.apns() }
        + Wrong.each("APNS_DEVELOPMENT_URL", ["http://h", ""].filter { !$0.isEmpty }) { _ = try $0.apns() }
        + Wrong.each("PUSH_CA_FILE", ["/tmp/there/is/no/such/file"]) { _ = try $0.caFile() }

    @Test(arguments: wrong)
    func `a wrong value is told in one line: the variable, the fault, an example`(_ one: Wrong) throws {
        var environment = try Given.apns()
        environment["DATABASE_URL"] = "postgresql://h/db"
        environment[one.name] = one.value
        let configuration = try Given.configuration(environment)
        let complaint = try Complaint { try one.read(configuration) }
        #expect(complaint.isOneLine(about: one.name), "\(complaint.text)")
        #expect(complaint.hasExample, "\(complaint.text)")
    }

    @Test(arguments: ["https://h?x=1", "https://h#x", "https://u:s3cr3t@h", "https://h\nx"])
    func `an address is scheme, host and port alone`(_ text: String) throws {
        let complaint = try Complaint { _ = try Given.configuration(Given.apns(["APNS_URL": text])).apns() }
        #expect(complaint.isOneLine(about: "APNS_URL"))
    }

    @Test func `right values are taken`() throws {
        let environment = try Given.apns([
            "DATABASE_URL": " postgresql://u:p%40ss@one,two/db?target_session_attrs=read-write\n", "PUSH_LEASE": "10s",
            "PUSH_POLL": "2s", "PUSH_DRAIN": "0s", "PUSH_LIFETIME": "7d, contact_updated = 2h",
            "APNS_KEY_ID": " ABC123DEFG\n",
            "APNS_TOPIC": "com.example-1.App\n", "APNS_URL": "https://localhost:8443/", "LOG_LEVEL": "debug",
            "LOG_FORMAT": "json",
        ])
        let configuration = try Given.configuration(environment)
        #expect(!"\(try configuration.database())".contains("p@ss"))
        let delivery = try configuration.delivery()
        #expect(delivery.lease == .seconds(10))
        #expect(delivery.heartbeat <= delivery.lease / 3)
        #expect(delivery.poll == .seconds(2))
        #expect(delivery.drainLimit == .zero)
        #expect(delivery.lifetime(.contactUpdated) == .seconds(7200))
        #expect(delivery.lifetime(.system) == .seconds(7 * 86_400))
        let apns = try #require(try configuration.apns())
        #expect(apns.topic == "com.example-1.App")
        #expect(apns.url == "https://localhost:8443")
        #expect(apns.developmentURL == "https://api.sandbox.push.apple.com")
        #expect(try configuration.log(environment: [:]).level == .debug)
        #expect(try configuration.fcm() == nil)
    }

    @Test func `a lease shortens the heartbeat, and kinds alone keep the others at 28 days`() throws {
        #expect(try Given.configuration(["PUSH_LEASE": "3s"]).delivery().heartbeat <= .seconds(1))
        let lifetimes = try Given.configuration(["PUSH_LIFETIME": "system=1h"]).lifetimes()
        #expect(lifetimes[.system] == .seconds(3600))
        #expect(lifetimes[.contactUpdated] == .seconds(28 * 86_400))
        #expect(lifetimes.count == NotificationKind.all.count)
    }

    @Test func `a missing database is told with an example`() throws {
        let complaint = try Complaint { _ = try Given.configuration().database() }
        #expect(complaint.isOneLine(about: "DATABASE_URL") && complaint.hasExample)
        #expect(complaint.text.contains("not set"))
    }
}
