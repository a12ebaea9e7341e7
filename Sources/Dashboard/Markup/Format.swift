import PushModel

import struct FoundationEssentials.Date

/// Numbers and times as words. Everything is in UTC, in one form, whatever the machine's locale.
enum Format {
    /// `12,345`.
    static func number(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        var result = value < 0 ? "−" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result += "," }
            result.append(digit)
        }
        return result
    }

    /// `1 delivery`, `12 deliveries`.
    static func count(_ value: Int, _ one: String, _ many: String) -> String {
        "\(self.number(value)) \(value == 1 ? one : many)"
    }

    /// A length of time in at most two units: `under 1 ms`, `340 ms`, `2.4 s`, `38 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    static func duration(seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0 else { return "0 s" }
        if seconds == 0 { return "0 s" }
        if seconds < 0.0005 { return "under 1 ms" }
        if seconds < 0.9995 { return "\(Int((seconds * 1000).rounded())) ms" }
        if seconds < 9.95 { return "\(self.oneDecimal(seconds)) s" }
        let whole = Int(min(seconds, 1e12).rounded())
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return self.pair(whole / 60, "min", whole % 60, "s")
        case ..<86_400: return self.pair(whole / 3600, "h", whole % 3600 / 60, "min")
        default: return self.pair(whole / 86_400, "d", whole % 86_400 / 3600, "h")
        }
    }

    /// `in 5 min`, `12 s ago`: one unit, as the script of the pages writes it.
    static func relative(_ date: Date, now: Date) -> String {
        let seconds = now.timeIntervalSince(date)
        let size = Int(min(abs(seconds), 1e12))
        let words =
            switch size {
            case ..<60: "\(size) s"
            case ..<3600: "\(size / 60) min"
            case ..<86_400: "\(size / 3600) h"
            default: "\(size / 86_400) d"
            }
        return seconds >= 0 ? "\(words) ago" : "in \(words)"
    }

    static func bytes(_ count: Int) -> String {
        var value = Double(count)
        for unit in ["bytes", "kB", "MB", "GB"] {
            if value < 999.5 { return unit == "bytes" ? "\(count) bytes" : "\(self.oneDecimal(value)) \(unit)" }
            value /= 1000
        }
        return "\(self.oneDecimal(value)) TB"
    }

    /// `12.5 %`, `0.1 %`.
    static func percent(_ share: Double) -> String {
        "\(self.oneDecimal(share * 100)) %"
    }

    /// `2026-11-14T08:00:00Z`, for `<time datetime>`.
    static func machine(_ date: Date) -> String { date.formatted(.iso8601) }

    /// `2026-11-14 08:00:00`.
    static func dateAndTime(_ date: Date) -> String {
        let text = self.machine(date)
        return String(text.prefix(10)) + " " + self.time(date)
    }

    /// `2026-11-14`.
    static func day(_ date: Date) -> String { String(self.machine(date).prefix(10)) }

    /// `08:00:00`.
    static func time(_ date: Date) -> String { String(self.machine(date).dropFirst(11).prefix(8)) }

    /// `08:00:00.250`.
    static func preciseTime(_ date: Date) -> String {
        // Cut, not rounded: the second stays the one that the others show.
        let fraction = date.timeIntervalSince1970 - date.timeIntervalSince1970.rounded(.down)
        let milliseconds = String(min(999, Int(fraction * 1000)))
        return self.time(date) + "." + String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
    }

    /// `08:00`.
    static func minute(_ date: Date) -> String { String(self.time(date).prefix(5)) }

    private static func pair(_ first: Int, _ unit: String, _ second: Int, _ smaller: String) -> String {
        second == 0 ? "\(first) \(unit)" : "\(first) \(unit) \(second) \(smaller)"
    }

    private static func oneDecimal(_ value: Double) -> String {
        let tenths = Int((min(value, 1e15) * 10).rounded())
        return tenths % 10 == 0 ? self.number(tenths / 10) : "\(self.number(tenths / 10)).\(tenths % 10)"
    }
}
