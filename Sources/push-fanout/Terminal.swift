import Glibc

import class FoundationEssentials.ProcessInfo

/// What standard output is: colours, tables that fit and progress are for people, plain lines for programs.
struct Terminal: Sendable {
    /// Whether standard output takes colours: a terminal, and nobody said no (https://no-color.org).
    let hasColours: Bool
    /// Whether there is somebody to ask, and to show progress to.
    let isInteractive: Bool

    static func current() -> Terminal {
        let environment = ProcessInfo.processInfo.environment
        let refuses = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        return Terminal(
            hasColours: isatty(STDOUT_FILENO) == 1 && !refuses,
            isInteractive: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1)
    }

    enum Colour: String {
        case red = "31"
        case green = "32"
        case yellow = "33"
        case grey = "90"
        case bold = "1"
    }

    func paint(_ text: String, _ colour: Colour?) -> String {
        guard self.hasColours, let colour, !text.isEmpty else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    /// Asks a question whose answer is yes or anything else. Never asks where nobody can answer.
    func confirms(_ question: String) -> Bool {
        guard self.isInteractive else { return false }
        PushFanout.printError(question + " Type yes to go on:")
        return readLine() == "yes"
    }

    /// One line that is written over, on standard error.
    func progress(_ text: String) {
        guard self.isInteractive else { return }
        var line = "\r\u{1B}[K" + text
        line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// Columns as wide as their widest cell, in characters; two spaces between them.
struct Table {
    private var rows: [[Cell]] = []

    struct Cell {
        var text: String
        var colour: Terminal.Colour?

        init(_ text: String, _ colour: Terminal.Colour? = nil) {
            self.text = Self.printable(text)
            self.colour = colour
        }

        /// Control characters would move the cursor, or worse.
        private static func printable(_ text: String) -> String {
            String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
        }
    }

    init(_ header: [String] = []) {
        if !header.isEmpty { self.rows.append(header.map { Cell($0, .bold) }) }
    }

    mutating func append(_ cells: [Cell]) { self.rows.append(cells) }

    func text(on terminal: Terminal) -> String {
        var widths: [Int] = []
        for row in self.rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.text.count)
            }
        }
        return self.rows.map { row in
            var line = ""
            let last = row.lastIndex { !$0.text.isEmpty } ?? -1
            for (column, cell) in row.prefix(last + 1).enumerated() {
                line += terminal.paint(cell.text, cell.colour)
                // None behind the last: a line that is copied has no blanks at its end.
                guard column < last else { break }
                line += String(repeating: " ", count: widths[column] - cell.text.count + 2)
            }
            return line + "\n"
        }.joined()
    }
}
