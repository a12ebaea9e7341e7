/// How a language joins a list, after CLDR: two things by `pair`; more by `middle`, the last one by `end`.
package struct ListPattern: Equatable, Sendable {
    package var pair: Joint
    package var middle: Joint
    package var end: Joint

    package init(pair: Joint, middle: Joint, end: Joint) {
        self.pair = pair
        self.middle = middle
        self.end = end
    }

    /// One pattern like `{0} and {1}`: what stands before, between and after the two things.
    package struct Joint: Equatable, Sendable {
        package let before: String
        package let between: String
        package let after: String

        /// Nil unless `{0}` and `{1}` stand in the pattern once each, in this order, and no other brace.
        package init?(_ pattern: String) {
            guard let first = Self.split(pattern[...], at: "{0}"), let second = Self.split(first.after, at: "{1}")
            else {
                return nil
            }
            let texts = [String(first.before), String(second.before), String(second.after)]
            guard !texts.contains(where: { $0.contains("{") || $0.contains("}") }) else { return nil }
            self.before = texts[0]
            self.between = texts[1]
            self.after = texts[2]
        }

        private static func split(_ text: Substring, at mark: String) -> (before: Substring, after: Substring)? {
            guard let start = text.indices.first(where: { text[$0...].hasPrefix(mark) }) else { return nil }
            return (text[..<start], text[text.index(start, offsetBy: mark.count)...])
        }

        fileprivate func join(_ first: String, _ second: String) -> String {
            self.before + first + self.between + second + self.after
        }
    }

    package func join(_ words: [String]) -> String {
        guard let first = words.first else { return "" }
        guard words.count > 2 else { return words.count == 2 ? self.pair.join(first, words[1]) : first }
        let all = words.dropFirst().dropLast().reduce(first) { self.middle.join($0, $1) }
        return self.end.join(all, words[words.count - 1])
    }
}
