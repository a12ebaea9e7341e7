package import struct FoundationEssentials.Calendar
package import struct FoundationEssentials.Date
package import struct FoundationEssentials.DateComponents
package import struct FoundationEssentials.TimeZone

/// Moments as people write them: `90s`, `15m`, `2h`, `30d` ago, a day, or a day and a time of day, in UTC, with a `T` or
/// a space between.
package enum MomentText {
    /// From 2000 to 2199, so that it can be compared in the database; nil for anything else.
    package static func read(_ text: String, now: Date) -> Date? {
        guard text.utf8.count <= 40 else { return nil }
        if let unit = text.last, let seconds = Self.units[unit], let number = Int(text.dropLast()) {
            guard (0...1_000_000_000).contains(number) else { return nil }
            return now.addingTimeInterval(-Double(number) * seconds)
        }
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
        let day = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard day.count == 3, let year = Self.number(day[0], 2000...2199), let month = Self.number(day[1], 1...12),
            let date = Self.number(day[2], 1...31)
        else { return nil }
        var components = DateComponents(year: year, month: month, day: date)
        var fraction = 0.0
        if parts.count == 2 {
            var time = parts[1]
            if time.last == "Z" { time.removeLast() }
            let fields = time.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 2 || fields.count == 3, let hour = Self.number(fields[0], 0...23),
                let minute = Self.number(fields[1], 0...59)
            else { return nil }
            components.hour = hour
            components.minute = minute
            if fields.count == 3 {
                guard let second = Self.seconds(fields[2]) else { return nil }
                components.second = Int(second)
                fraction = second - second.rounded(.down)
            }
        }
        let calendar = Self.utc
        guard let moment = calendar.date(from: components), calendar.component(.day, from: moment) == date else {
            return nil
        }
        return moment.addingTimeInterval(fraction)
    }

    /// `2026-11-30T14:05:00Z`, with milliseconds where there are some.
    package static func write(_ moment: Date) -> String {
        let milliseconds = Int((moment.timeIntervalSince1970 * 1000).rounded())
        let whole = Date(timeIntervalSince1970: Double(milliseconds / 1000))
        let parts = Self.utc.dateComponents([.year, .month, .day, .hour, .minute, .second], from: whole)
        func padded(_ number: Int?, _ width: Int = 2) -> String {
            let digits = String(number ?? 0)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let rest = milliseconds % 1000
        return padded(parts.year, 4) + "-" + padded(parts.month) + "-" + padded(parts.day) + "T" + padded(parts.hour)
            + ":" + padded(parts.minute) + ":" + padded(parts.second) + (rest == 0 ? "" : "." + padded(rest, 3)) + "Z"
    }

    /// For sentences: `2026-11-30 14:05:00 UTC`.
    package static func tell(_ moment: Date) -> String {
        String(Self.write(moment).prefix(19)).replacing("T", with: " ") + " UTC"
    }

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    private static var utc: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.count <= 4,
            let number = Int(text), range.contains(number)
        else { return nil }
        return number
    }

    /// `05`, `05.123`.
    private static func seconds(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), text.first != ".",
            let seconds = Double(text), seconds < 60
        else { return nil }
        return seconds
    }
}
