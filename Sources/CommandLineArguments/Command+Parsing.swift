extension Command {
    /// Reads a command line, without the name of the program.
    ///
    /// `--` ends the flags. A flag that does not repeat may be given once. With `--help` or `-h` anywhere before `--`
    /// only ``ParsedArguments/help`` is filled in.
    package func parse(_ arguments: [String]) throws(UsageError) -> ParsedArguments {
        var reader = CommandLineReader(root: self)
        let wantsHelp = arguments.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
        guard !wantsHelp else { return reader.help(arguments) }
        return try reader.read(arguments)
    }
}

/// The state of reading one command line: which command it is in, what it has seen.
private struct CommandLineReader {
    private var path: [Command]
    private var result: ParsedArguments

    init(root: Command) {
        self.path = [root]
        self.result = ParsedArguments(command: root.name)
    }

    private var current: Command { self.path[self.path.count - 1] }
    private var currentName: String { self.path.map(\.name).joined(separator: " ") }
    /// A subcommand also knows the flags of the commands around it.
    private var flags: [Flag] { self.path.flatMap(\.flags) }

    mutating func help(_ arguments: [String]) -> ParsedArguments {
        for argument in arguments {
            guard let next = self.current.subcommands.first(where: { $0.name == argument }) else { continue }
            self.path.append(next)
        }
        self.result.help = HelpText.of(self.path)
        return self.result
    }

    mutating func read(_ arguments: [String]) throws(UsageError) -> ParsedArguments {
        var rest = arguments[...]
        var flagsEnded = false
        while let argument = rest.popFirst() {
            if flagsEnded || argument == "-" || !argument.hasPrefix("-") {
                try self.readWord(argument)
            } else if argument == "--" {
                flagsEnded = true
            } else {
                try self.readFlag(argument, &rest)
            }
        }
        try self.finish()
        return self.result
    }

    private mutating func readWord(_ word: String) throws(UsageError) {
        if !self.current.subcommands.isEmpty {
            guard let next = self.current.subcommands.first(where: { $0.name == word }) else {
                throw self.error(
                    "\"\(word)\" is not a command of \(self.currentName)",
                    NearestName.of(word, among: self.current.subcommands.map(\.name)))
            }
            self.enter(next)
            return
        }
        let takesMore = self.current.positionals.last?.repeats == true
        guard self.result.positionals.count < self.current.positionals.count || takesMore else {
            throw self.error("\"\(word)\" is one argument too many")
        }
        self.result.positionals.append(word)
    }

    private mutating func readFlag(_ argument: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let body = argument.drop { $0 == "-" }
        let name = String(body.prefix { $0 != "=" })
        let inline = body.firstIndex(of: "=").map { String(body[body.index(after: $0)...]) }
        guard argument.hasPrefix("--"), let flag = self.flags.first(where: { $0.name == name }) else {
            let nearest = NearestName.of(name, among: self.flags.map(\.name) + ["help"])
            let shown = argument.prefix { $0 != "=" }
            throw self.error("\(shown) is not a flag of \(self.currentName)", nearest.map { "--\($0)" })
        }
        switch flag.kind {
        case .boolean:
            guard inline == nil else { throw self.error("--\(name) takes no value") }
            self.result.booleans.insert(name)
        case .value(let placeholder):
            let next = rest.first.flatMap { $0.hasPrefix("--") ? nil : $0 }
            guard let value = inline ?? next else {
                throw self.error("--\(name) needs a value: --\(name) \(placeholder)")
            }
            if inline == nil { rest.removeFirst() }
            guard flag.repeats || self.result.values[name] == nil else {
                throw self.error("--\(name) was given more than once")
            }
            self.result.values[name, default: []].append(value)
        }
    }

    private mutating func finish() throws(UsageError) {
        while !self.current.subcommands.isEmpty {
            guard let name = self.current.defaultSubcommand,
                let next = self.current.subcommands.first(where: { $0.name == name })
            else {
                let names = self.current.subcommands.map(\.name).joined(separator: ", ")
                throw self.error("\(self.currentName) needs a command: \(names)")
            }
            self.enter(next)
        }
        let required = self.current.positionals.filter(\.isRequired)
        if self.result.positionals.count < required.count {
            throw self.error("\(required[self.result.positionals.count].name) is missing")
        }
    }

    private mutating func enter(_ command: Command) {
        self.path.append(command)
        self.result.subcommands.append(command.name)
        self.result.command = self.currentName
    }

    private func error(_ message: String, _ suggestion: String? = nil) -> UsageError {
        UsageError(message, suggestion: suggestion, command: self.currentName)
    }
}
