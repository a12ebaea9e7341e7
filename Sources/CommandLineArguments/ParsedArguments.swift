/// What a command line said, by the names of its declaration.
package struct ParsedArguments: Equatable, Sendable {
    /// The names of the subcommands that were chosen, outermost first; empty for a command without any.
    package internal(set) var subcommands: [String] = []
    /// In the order in which they stood.
    package internal(set) var positionals: [String] = []
    /// The help text, when `--help` stood anywhere: show it and leave, nothing else was checked.
    package internal(set) var help: String?

    var command: String
    var values: [String: [String]] = [:]
    var booleans: Set<String> = []

    init(command: String) {
        self.command = command
    }

    /// Whether a boolean flag was given.
    package func isSet(_ name: String) -> Bool { self.booleans.contains(name) }

    /// The value of a flag, or nil if it was not given.
    package func value(_ name: String) -> String? { self.values[name]?.last }

    /// All values of a flag that repeats, in order.
    package func values(_ name: String) -> [String] { self.values[name] ?? [] }

    /// The value of a flag as a whole number within `range`, or nil if it was not given.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = self.value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "--\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"",
                command: self.command)
        }
        return number
    }

    /// The value of a flag as one of `choices`, or nil if it was not given.
    package func choice(_ name: String, of choices: [String]) throws(UsageError) -> String? {
        guard let text = self.value(name) else { return nil }
        guard choices.contains(text) else {
            throw UsageError(
                "--\(name) takes one of \(choices.joined(separator: ", ")), not \"\(text)\"",
                suggestion: NearestName.of(text, among: choices), command: self.command)
        }
        return text
    }

    /// An error of usage that the caller found, for the same command.
    package func usageError(_ message: String) -> UsageError { UsageError(message, command: self.command) }
}
