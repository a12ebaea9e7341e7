/// A command as it is declared: its flags, its positional arguments, its subcommands. Parsing and help come from it.
package struct Command: Sendable {
    package let name: String
    /// One line, without a full stop.
    package let summary: String
    package let flags: [Flag]
    package let positionals: [Positional]
    package let subcommands: [Command]
    /// Which subcommand runs when none is named; nil: naming one is required.
    package let defaultSubcommand: String?
    /// Free text at the end of the help.
    package let notes: String?

    /// A command has subcommands or positional arguments, not both. Flags of a command may also stand behind the name
    /// of its subcommands.
    package init(
        _ name: String, summary: String, flags: [Flag] = [], positionals: [Positional] = [],
        subcommands: [Command] = [], defaultSubcommand: String? = nil, notes: String? = nil
    ) {
        precondition(subcommands.isEmpty || positionals.isEmpty, "\(name) has subcommands and positional arguments")
        self.name = name
        self.summary = summary
        self.flags = flags
        self.positionals = positionals
        self.subcommands = subcommands
        self.defaultSubcommand = defaultSubcommand
        self.notes = notes
    }
}

/// `--name` or `--name VALUE`.
package struct Flag: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// Present or absent.
        case boolean
        /// `--name VALUE` or `--name=VALUE`; the placeholder is what the help shows for the value.
        case value(placeholder: String)
    }

    /// Without the dashes.
    package let name: String
    package let kind: Kind
    package let summary: String
    /// Whether it may be given more than once.
    package let repeats: Bool
    /// What holds when it is not given, for the help.
    package let defaultText: String?

    package static func boolean(_ name: String, _ summary: String) -> Flag {
        Flag(name: name, kind: .boolean, summary: summary, repeats: false, defaultText: nil)
    }

    package static func value(
        _ name: String, _ placeholder: String, _ summary: String, default defaultText: String? = nil,
        repeats: Bool = false
    ) -> Flag {
        Flag(
            name: name, kind: .value(placeholder: placeholder), summary: summary, repeats: repeats,
            defaultText: defaultText)
    }

    private init(name: String, kind: Kind, summary: String, repeats: Bool, defaultText: String?) {
        self.name = name
        self.kind = kind
        self.summary = summary
        self.repeats = repeats
        self.defaultText = defaultText
    }
}

/// An argument without dashes.
package struct Positional: Equatable, Sendable {
    /// In capitals, as the help shows it.
    package let name: String
    package let summary: String
    package let isRequired: Bool
    /// Whether it takes all that remain; only the last one may.
    package let repeats: Bool

    package init(_ name: String, _ summary: String, isRequired: Bool = true, repeats: Bool = false) {
        self.name = name
        self.summary = summary
        self.isRequired = isRequired
        self.repeats = repeats
    }
}
