import CommandLineArguments

import struct FoundationEssentials.Data
import class FoundationEssentials.FileManager

/// A wrong value: the variable, what is wrong with it, and an example.
struct ConfigurationError: Error, CustomStringConvertible, Equatable {
    let description: String

    init(_ setting: Setting, _ fault: String, example: String) {
        self.description = "\(setting.name) \(fault); for example \(setting.name)=\(example)"
    }

    init(_ description: String) {
        self.description = description
    }
}

/// Looks settings up: the flag first, then the variable, then for a secret the file.
struct SettingValues: Sendable {
    private let arguments: ParsedArguments
    private let environment: [String: String]

    init(_ arguments: ParsedArguments, environment: [String: String]) {
        self.arguments = arguments
        self.environment = environment
    }

    /// The value; nil when it is given nowhere and has no default. An empty variable counts as not given, except where
    /// empty means something (`emptyCounts`).
    func text(_ setting: Setting, emptyCounts: Bool = false) throws(ConfigurationError) -> String? {
        if let value = self.arguments.value(setting.flagName) { return value }
        if setting.isSecret, let path = self.arguments.value(setting.flagName + "-file") {
            return try Self.read(path, for: setting)
        }
        if let value = self.environment[setting.name], emptyCounts || !value.isEmpty { return value }
        if setting.isSecret, let path = self.environment[setting.fileName], !path.isEmpty {
            return try Self.read(path, for: setting)
        }
        return setting.defaultText
    }

    /// The contents of a file that a setting names. Never more than a megabyte: keys and accounts are small.
    static func read(_ path: String, for setting: Setting) throws(ConfigurationError) -> String {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(
                "\(setting.name): the file \(path) cannot be read: check the path and its permissions")
        }
        guard bytes.count <= 1 << 20, let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError("\(setting.name): the file \(path) is not a text of at most 1 MiB")
        }
        return text
    }

    func required(_ setting: Setting, example: String) throws(ConfigurationError) -> String {
        guard let value = try self.text(setting), !value.trimmed.isEmpty else {
            throw ConfigurationError(setting, "is not set", example: example)
        }
        return value
    }

    func integer(_ setting: Setting, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
        let text = try self.text(setting) ?? ""
        guard let value = Int(text), range.contains(value) else {
            throw ConfigurationError(
                setting,
                "must be a whole number from \(range.lowerBound) to \(range.upperBound)",
                example: setting.defaultText ?? "\(range.lowerBound)")
        }
        return value
    }

    func duration(_ setting: Setting, in range: ClosedRange<Duration>) throws(ConfigurationError) -> Duration {
        guard let value = try Duration(configuration: self.text(setting) ?? ""), range.contains(value) else {
            throw ConfigurationError(
                setting,
                "must be a time such as 500ms, 30s, 15m, 12h or 28d, from \(range.lowerBound.configurationText) to \(range.upperBound.configurationText)",
                example: setting.defaultText ?? "30s")
        }
        return value
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ setting: Setting, _ type: Choice.Type
    ) throws(ConfigurationError) -> Choice where Choice.RawValue == String {
        let text = try self.text(setting) ?? ""
        guard let value = Choice(rawValue: text) else {
            throw ConfigurationError(
                setting, "must be one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "),
                example: setting.defaultText ?? "")
        }
        return value
    }

    /// An https address without path, as scheme and host.
    func address(_ setting: Setting) throws(ConfigurationError) -> String {
        var text = try self.text(setting) ?? ""
        if text.hasSuffix("/") { text.removeLast() }
        let host = text.dropFirst("https://".count)
        // A name, an IPv4 or a bracketed IPv6 address, and perhaps a port: nothing that could become part of a request.
        let isHost = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || ".-:[]".utf8.contains(byte)
        }
        guard text.hasPrefix("https://"), !host.isEmpty, isHost else {
            throw ConfigurationError(
                setting, "must be an https address of a host, with a port perhaps and nothing behind it",
                example: setting.defaultText ?? "https://localhost:8443")
        }
        return text
    }
}

extension Duration {
    /// `500ms`, `30s`, `15m`, `12h`, `28d`.
    init?(configuration text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), number < 1_000_000_000 else { return nil }
        switch text.dropFirst(digits.count) {
        case "ms": self = .milliseconds(number)
        case "s": self = .seconds(number)
        case "m": self = .seconds(number * 60)
        case "h": self = .seconds(number * 3600)
        case "d": self = .seconds(number * 86_400)
        default: return nil
        }
    }

    /// In the largest unit that says it whole, as ``init(configuration:)`` reads it.
    var configurationText: String {
        let milliseconds = self.components.seconds * 1000 + self.components.attoseconds / 1_000_000_000_000_000
        let units: [(name: String, milliseconds: Int64)] = [
            ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000),
        ]
        let unit = units.first { milliseconds != 0 && milliseconds % $0.milliseconds == 0 } ?? ("ms", 1)
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
