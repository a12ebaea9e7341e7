package import struct FoundationEssentials.Date

/// The `Retry-After` header (RFC 9110 section 10.2.3): seconds, or a date.
package enum RetryAfter {
    /// No provider is believed beyond this: a longer wait would be a mistake of its own.
    package static let longest: Duration = .seconds(24 * 60 * 60)

    /// How long to wait: nil for what is neither seconds nor a date; what lies in the past is zero.
    package static func parse(_ text: String, now: Date) -> Duration? {
        let text = text.trimmingWhiteSpace
        guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        if !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            guard digits.startIndex == text.startIndex else { return .zero }
            // More digits than an Int holds are still a number, only an absurd one.
            guard let seconds = Int(digits) else { return self.longest }
            return min(.seconds(min(seconds, 24 * 60 * 60)), self.longest)
        }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        let seconds = date.timeIntervalSince(now).rounded(.up)
        return min(max(.seconds(seconds), .zero), self.longest)
    }
}

extension String {
    fileprivate var trimmingWhiteSpace: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = self.firstIndex(where: { !isSpace($0) }), let last = self.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(self[first...last])
    }
}
