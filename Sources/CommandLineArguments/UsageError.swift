/// A command line that cannot be understood, told to the person who typed it. Ends a program with exit code 2.
package struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The exit code of every program in this package for wrong usage.
    package static let exitCode: Int32 = 2

    package let message: String
    /// The nearest valid name, where there is one.
    package let suggestion: String?
    /// The command it was about, for example `push-fanout queue`.
    package let command: String

    package init(_ message: String, suggestion: String? = nil, command: String) {
        self.message = message
        self.suggestion = suggestion
        self.command = command
    }

    package var description: String {
        let hint = self.suggestion.map { " Did you mean \($0)?" } ?? ""
        return "\(self.message).\(hint) See: \(self.command) --help"
    }
}

/// The name a person probably meant.
enum NearestName {
    /// The candidate with the fewest edits, if that is few enough to be a slip of the hand.
    static func of(_ typed: String, among candidates: [String]) -> String? {
        let limit = max(2, typed.count / 3)
        return
            candidates
            .map { (name: $0, distance: Self.distance(typed, $0)) }
            .filter { $0.distance <= limit && $0.distance < max(typed.count, $0.name.count) }
            .min { ($0.distance, $0.name) < ($1.distance, $1.name) }?
            .name
    }

    /// Insertions, deletions, replacements and swaps of neighbours from one text to the other.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left), right = Array(right)
        var rows = [Array(0...right.count)]
        for row in 1..<(left.count + 1) {
            var current = [row]
            for column in 1..<(right.count + 1) {
                let replaced = rows[row - 1][column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
                var best = min(rows[row - 1][column] + 1, current[column - 1] + 1, replaced)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    best = min(best, rows[row - 2][column - 2] + 1)
                }
                current.append(best)
            }
            rows.append(current)
        }
        return rows[left.count][right.count]
    }
}
