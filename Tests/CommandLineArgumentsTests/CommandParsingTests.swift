internal import Testing

@testable internal import CommandLineArguments

private let queue = Command(
    "queue", summary: "Look at the queue",
    subcommands: [
        Command("stats", summary: "Counts"),
        Command(
            "list", summary: "One line each",
            flags: [
                .value("state", "STATE", "only these", repeats: true), .value("limit", "N", "at most", default: "50"),
            ]),
        Command("retry", summary: "Again", positionals: [Positional("ID", "a delivery", repeats: true)]),
    ], defaultSubcommand: "stats")

private let program = Command(
    "program", summary: "Does things", flags: [.boolean("json", "print JSON"), .value("database-url", "URL", "where")],
    subcommands: [
        queue,
        Command(
            "show", summary: "One",
            positionals: [Positional("ID", "which"), Positional("AT", "when", isRequired: false)]),
    ])

@Suite struct CommandParsingTests {
    @Test func `subcommands, flags in both forms, repeats and positionals are read`() throws {
        let parsed = try program.parse([
            "--json", "queue", "list", "--state", "running", "--state=available", "--limit=5", "--database-url", "-",
        ])
        #expect(parsed.subcommands == ["queue", "list"])
        #expect(parsed.isSet("json"))
        #expect(parsed.values("state") == ["running", "available"])
        #expect(try parsed.integer("limit", in: 1...100) == 5)
        #expect(parsed.value("database-url") == "-")
        #expect(parsed.positionals.isEmpty)
        #expect(parsed.help == nil)
    }

    @Test func `a value may contain equals signs and be empty`() throws {
        #expect(try program.parse(["queue", "--database-url=a=b"]).value("database-url") == "a=b")
        #expect(try program.parse(["queue", "--database-url="]).value("database-url") == "")
    }

    @Test func `a default subcommand stands in when none is named`() throws {
        #expect(try program.parse(["queue"]).subcommands == ["queue", "stats"])
    }

    @Test func `positionals repeat where the last one says so`() throws {
        #expect(try program.parse(["queue", "retry", "a", "b", "c"]).positionals == ["a", "b", "c"])
    }

    @Test func `two dashes end the flags`() throws {
        #expect(try program.parse(["show", "--", "--help"]).positionals == ["--help"])
    }

    @Test(
        arguments: [
            (["--jsn", "queue"], "--jsn is not a flag of program", "--json"),
            (["queue", "list", "--stat", "x"], "--stat is not a flag of program queue list", "--state"),
            (["-json", "queue"], "-json is not a flag of program", "--json"),
            (["qeueu"], "\"qeueu\" is not a command of program", "queue"),
            (["nothing-like-it"], "\"nothing-like-it\" is not a command of program", nil),
            ([], "program needs a command: queue, show", nil),
            (["queue", "list", "--limit"], "--limit needs a value: --limit N", nil),
            (["queue", "list", "--limit", "--json"], "--limit needs a value: --limit N", nil),
            (["queue", "list", "--limit", "1", "--limit", "2"], "--limit was given more than once", nil),
            (["queue", "--json=yes"], "--json takes no value", nil),
            (["show"], "ID is missing", nil),
            (["queue", "retry"], "ID is missing", nil),
            (["show", "a", "b", "c"], "\"c\" is one argument too many", nil),
        ] as [([String], String, String?)])
    func `a wrong line names what is wrong`(line: [String], message: String, suggestion: String?) {
        let error = #expect(throws: UsageError.self) { try program.parse(line) }
        #expect(error?.message == message)
        #expect(error?.suggestion == suggestion)
    }

    @Test func `an error names the way to the help`() {
        let error = #expect(throws: UsageError.self) { try program.parse(["queue", "lst"]) }
        #expect(
            error?.description
                == "\"lst\" is not a command of program queue. Did you mean list? See: program queue --help")
    }

    @Test func `numbers and choices are checked`() throws {
        let parsed = try program.parse(["queue", "list", "--limit", "0", "--state", "runing"])
        #expect(throws: UsageError.self) { try parsed.integer("limit", in: 1...100) }
        let error = #expect(throws: UsageError.self) { try parsed.choice("state", of: ["available", "running"]) }
        #expect(error?.suggestion == "running")
        #expect(try parsed.integer("absent", in: 1...2) == nil)
        #expect(try parsed.choice("absent", of: ["a"]) == nil)
    }
}

@Suite struct HelpTests {
    @Test func `help comes from the declaration, even from a line with faults`() throws {
        let help = try #require(try program.parse(["queue", "list", "--nonsense", "-h"]).help)
        #expect(
            help == """
                One line each.

                Usage: program queue list [FLAGS]

                Flags:
                  --state STATE  only these; may be repeated
                  --limit N      at most (default: 50)
                  --help         show this text

                Flags of every command:
                  --json              print JSON
                  --database-url URL  where

                """)
    }

    @Test func `help of a command lists its subcommands and arguments`() throws {
        let help = try #require(try program.parse(["queue", "--help"]).help)
        #expect(help.contains("Usage: program queue [COMMAND] [FLAGS]"))
        #expect(help.contains("stats  Counts (default)"))
        let show = try #require(try program.parse(["show", "--help"]).help)
        #expect(show.contains("Usage: program show [FLAGS] ID [AT]"))
    }
}

@Suite struct NearestNameTests {
    @Test(
        arguments: [
            ("port", "port", 0), ("prot", "port", 1), ("por", "port", 1), ("", "abc", 3), ("kitten", "sitting", 3),
        ] as [(String, String, Int)])
    func `distance counts edits`(left: String, right: String, distance: Int) {
        #expect(NearestName.distance(left, right) == distance)
        #expect(NearestName.distance(right, left) == distance)
    }
}
