private import FoundationEssentials
private import Glibc
private import Locking

/// Structured lines on standard error: one per change of state, none per push above `debug`.
///
/// Values must be fit for anyone's eyes: no secret, no push token, no name of a person.
package struct Log: Sendable {
    package enum Level: Int, CaseIterable, Comparable, Sendable {
        case debug, info, notice, warning, error

        package init?(name: String) {
            guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }

        package var name: String {
            switch self {
            case .debug: "debug"
            case .info: "info"
            case .notice: "notice"
            case .warning: "warning"
            case .error: "error"
            }
        }

        /// The syslog priority, which journald reads from a `<n>` at the head of a line.
        fileprivate var priority: Int {
            switch self {
            case .debug: 7
            case .info: 6
            case .notice: 5
            case .warning: 4
            case .error: 3
            }
        }

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    package enum Format: String, CaseIterable, Sendable {
        case logfmt, json
    }

    package let level: Level
    private let format: Format
    /// Under systemd (`JOURNAL_STREAM` is set) lines begin with their priority and without a time, which journald adds.
    private let underJournal: Bool
    private let write: @Sendable (String) -> Void

    package init(
        level: Level = .info, format: Format = .logfmt, underJournal: Bool = false,
        write: @escaping @Sendable (String) -> Void = Log.standardError
    ) {
        self.level = level
        self.format = format
        self.underJournal = underJournal
        self.write = write
    }

    package func debug(_ message: String, _ fields: KeyValuePairs<String, any CustomStringConvertible & Sendable> = [:])
    {
        self.log(.debug, message, fields)
    }

    package func info(_ message: String, _ fields: KeyValuePairs<String, any CustomStringConvertible & Sendable> = [:])
    {
        self.log(.info, message, fields)
    }

    package func notice(
        _ message: String, _ fields: KeyValuePairs<String, any CustomStringConvertible & Sendable> = [:]
    ) {
        self.log(.notice, message, fields)
    }

    package func warning(
        _ message: String, _ fields: KeyValuePairs<String, any CustomStringConvertible & Sendable> = [:]
    ) {
        self.log(.warning, message, fields)
    }

    package func error(_ message: String, _ fields: KeyValuePairs<String, any CustomStringConvertible & Sendable> = [:])
    {
        self.log(.error, message, fields)
    }

    private func log(
        _ level: Level, _ message: String, _ fields: KeyValuePairs<String, any CustomStringConvertible & Sendable>
    ) {
        guard level >= self.level else { return }
        var line = self.underJournal ? "<\(level.priority)>" : ""
        let time = self.underJournal ? nil : Date().ISO8601Format(.init(includingFractionalSeconds: true))
        switch self.format {
        case .logfmt:
            if let time { line += "time=\(time) " }
            line += "level=\(level.name) msg=\(Self.logfmtValue(message))"
            for (key, value) in fields { line += " \(key)=\(Self.logfmtValue(value.description))" }
        case .json:
            line += "{"
            if let time { line += "\"time\":\"\(time)\"," }
            line += "\"level\":\"\(level.name)\",\"msg\":\(Self.quoted(message))"
            for (key, value) in fields { line += ",\(Self.quoted(key)):\(Self.quoted(value.description))" }
            line += "}"
        }
        self.write(line + "\n")
    }

    /// One `write` call per line, so that lines of several threads do not mix.
    package static let standardError: @Sendable (String) -> Void = { line in
        var line = line
        line.withUTF8 { bytes in
            _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }

    private static func logfmtValue(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "=")
                && byte != UInt8(ascii: "\\")
        }
        return plain && !text.isEmpty ? text : quoted(text)
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
