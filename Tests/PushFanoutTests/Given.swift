internal import CommandLineArguments
internal import Cryptography
internal import TestSupport

internal import struct FoundationEssentials.Data
internal import class FoundationEssentials.FileManager
internal import struct FoundationEssentials.URL
internal import struct FoundationEssentials.UUID

@testable internal import push_fanout

/// A configuration as `push-fanout run` would find it.
enum Given {
    static func configuration(
        _ environment: [String: String] = [:], arguments: [String] = []
    ) throws -> Configuration {
        let parsed = try PushFanout.command.parse(["run"] + arguments)
        return Configuration(values: SettingValues(parsed, environment: environment))
    }

    /// APNs as it should be, with changes; nil takes a variable away.
    static func apns(_ changes: [String: String?] = [:]) throws -> [String: String] {
        var environment = [
            "APNS_KEY": try TestKeys.p256.pem, "APNS_KEY_ID": "ABC123DEFG", "APNS_TEAM_ID": "DEF123GHIJ",
            "APNS_TOPIC": "com.example.app",
        ]
        for (name, value) in changes { environment[name] = value }
        return environment
    }

    /// A file with this text for the time `body` runs.
    static func withFile<Result>(_ text: String, _ body: (String) throws -> Result) throws -> Result {
        try self.withFile(Array(text.utf8), body)
    }

    static func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
        let url = URL(filePath: "/tmp/push-fanout-setting-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url.path)
    }
}

/// What a message must be, and must not give away.
struct Complaint {
    let text: String

    init(_ body: () throws -> Void) throws {
        do {
            try body()
            self.text = ""
        } catch let error as ConfigurationError {
            self.text = "\(error)"
        }
    }

    /// One line that begins with the variable and has an example of how to write it.
    func isOneLine(about name: String) -> Bool {
        !self.text.isEmpty && !self.text.contains(where: \.isNewline) && self.text.hasPrefix(name)
            && self.text.utf8.count < 700
    }

    var hasExample: Bool { self.text.contains("or example") || self.text.contains("Example: ") }
}

extension Given {
    /// The folder of the package.
    static var repository: String {
        var folder = URL(filePath: #filePath)
        while folder.lastPathComponent != "Tests", folder.path.count > 1 { folder.deleteLastPathComponent() }
        return folder.deletingLastPathComponent().path
    }
}
