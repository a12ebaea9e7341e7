/// The text of `--help`, from the declaration.
enum HelpText {
    /// `path` leads from the program to the command that is asked about.
    static func of(_ path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let isSentence = command.summary.last.map { ".?!…".contains($0) } ?? false
        var blocks = [command.summary + (isSentence ? "" : "."), "Usage: " + Self.usage(path)]
        if !command.subcommands.isEmpty {
            let rows = command.subcommands.map { subcommand in
                let isDefault = subcommand.name == command.defaultSubcommand
                return (subcommand.name, subcommand.summary + (isDefault ? " (default)" : ""))
            }
            blocks.append(Self.table("Commands", rows))
        }
        if !command.positionals.isEmpty {
            blocks.append(Self.table("Arguments", command.positionals.map { ($0.name, $0.summary) }))
        }
        let own = command.flags.map(Self.row) + [("--help", "show this text")]
        blocks.append(Self.table("Flags", own))
        let inherited = path.dropLast().flatMap(\.flags)
        if !inherited.isEmpty { blocks.append(Self.table("Flags of every command", inherited.map(Self.row))) }
        if let notes = command.notes { blocks.append(notes) }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private static func usage(_ path: [Command]) -> String {
        guard let command = path.last else { return "" }
        var words = path.map(\.name)
        if !command.subcommands.isEmpty {
            words.append(command.defaultSubcommand == nil ? "COMMAND" : "[COMMAND]")
        }
        words.append("[FLAGS]")
        for positional in command.positionals {
            let name = positional.name + (positional.repeats ? "…" : "")
            words.append(positional.isRequired ? name : "[\(name)]")
        }
        return words.joined(separator: " ")
    }

    private static func row(_ flag: Flag) -> (String, String) {
        var name = "--\(flag.name)"
        if case .value(let placeholder) = flag.kind { name += " \(placeholder)" }
        var summary = flag.summary
        if flag.repeats { summary += "; may be repeated" }
        if let defaultText = flag.defaultText { summary += " (default: \(defaultText))" }
        return (name, summary)
    }

    private static func table(_ title: String, _ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { name, summary in
            "  " + name + String(repeating: " ", count: width - name.count + 2) + summary
        }
        return ([title + ":"] + lines).joined(separator: "\n")
    }
}
