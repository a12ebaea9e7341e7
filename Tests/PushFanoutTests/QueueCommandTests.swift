internal import CommandLineArguments
internal import QueueInspection
internal import Testing

@testable internal import push_fanout

struct QueueCommandTests {
    @Test func `columns are as wide as their widest cell, and lines have no blanks at their end`() {
        var table = Table(["A", "LONG"])
        table.append([.init("longer"), .init("x")])
        table.append([.init("é"), .init("")])
        let plain = Terminal(hasColours: false, isInteractive: false)
        #expect(table.text(on: plain) == "A       LONG\nlonger  x\né\n")
    }

    @Test func `colours are for terminals, and do not move the columns`() {
        var table = Table()
        table.append([.init("red", .red), .init("x")])
        table.append([.init("plainer"), .init("y")])
        let colourful = Terminal(hasColours: true, isInteractive: false)
        #expect(table.text(on: colourful) == "\u{1B}[31mred\u{1B}[0m      x\nplainer  y\n")
    }

    @Test func `what would steer the terminal is shown as a mark`() {
        var table = Table()
        table.append([.init("a\u{1B}[2Jb\nc")])
        let plain = Terminal(hasColours: false, isInteractive: false)
        #expect(table.text(on: plain) == "a\u{FFFD}[2Jb\u{FFFD}c\n")
    }

    @Test func `nobody is asked where nobody can answer`() {
        #expect(!Terminal(hasColours: false, isInteractive: false).confirms("Really?"))
    }

    @Test(arguments: [
        (0.034, "34 ms"), (12.4, "12 s"), (200, "3 min"), (7300, "2 h"), (200_000, "2 d"),
    ])
    func `times are short`(seconds: Double, text: String) {
        #expect(QueueCommand.duration(seconds) == text)
    }

    @Test func `an old transaction is named with its holder and age`() {
        func line(_ seconds: Double) -> String? {
            QueueCommand.line(
                OpenTransaction(
                    pid: 42, role: "app", application: "psql", state: "idle in transaction", seconds: seconds,
                    waitsFor: nil, query: ""))
        }
        #expect(line(59) == nil)
        #expect(
            line(200)
                == "old transaction: pid 42 (psql, app), open for 3 min, idle in transaction: it keeps dead rows; "
                + "select pg_terminate_backend(42) ends it")
    }

    @Test(arguments: [
        ["queue", "list", "--state", "discarded", "--since", "2h", "--limit", "5", "--json"],
        ["queue", "retry", "a", "b"], ["queue", "cancel", "--all-matching", "--kind", "system", "--yes"],
        ["queue", "--database-url", "x"], ["queue", "audit", "--json"],
        ["prune", "--older-than", "30d", "--notifications"],
    ])
    func `the command line is understood`(arguments: [String]) throws {
        _ = try PushFanout.command.parse(arguments)
    }

    @Test(arguments: [
        (["PUSH_KEEP": "29d"], "PUSH_KEEP must be 30d at least"),
        (["PUSH_KEEP": "2d", "PUSH_LIFETIME": "12h"], "PUSH_KEEP must be 3d at least"),
        (["PUSH_KEEP": "8d", "PUSH_LIFETIME": "1d,system=7d"], "PUSH_KEEP must be 9d at least"),
        (["PUSH_SWEEP_AGE": "28d", "PUSH_KEEP": "29d", "PUSH_LIFETIME": "1d"], "PUSH_KEEP must be 30d at least"),
        (["PUSH_KEEP": "1d"], "PUSH_KEEP must be a time"), (["PUSH_KEEP": "long"], "PUSH_KEEP must be a time"),
    ])
    func `a history that is too short for sweep and webhook is refused`(
        environment: [String: String], words: String
    ) throws {
        let complaint = try Complaint { _ = try Given.configuration(environment).keep() }
        #expect(complaint.isOneLine(about: "PUSH_KEEP"))
        #expect(complaint.text.hasPrefix(words), "\(complaint.text)")
        #expect(complaint.hasExample)
    }

    @Test func `the history is kept for thirty days, unless somebody says otherwise`() throws {
        #expect(try Given.configuration().keep() == .seconds(30 * 86_400))
        #expect(try Given.configuration(["PUSH_KEEP": "3d", "PUSH_LIFETIME": "1d"]).keep() == .seconds(3 * 86_400))
        #expect(try Given.configuration(["PUSH_SWEEP_AGE": "28d"]).keep() == .seconds(30 * 86_400))
    }
}
