package import struct FoundationEssentials.Date

/// The three date formats of HTTP (RFC 9110 section 5.6.7); all are in Greenwich time.
package enum HTTPDate {
    /// The moment, or nil. The day's name is not checked. `now` places a year of two digits: one that would lie more
    /// than fifty years ahead is of the century before.
    package static func parse(_ text: String, now: Date) -> Date? {
        guard text.utf8.count <= 64 else { return nil }
        // "Sun, 06 Nov 1994 08:49:37 GMT" · "Sunday, 06-Nov-94 08:49:37 GMT" · "Sun Nov  6 08:49:37 1994"
        let words = text.split(separator: " ").map(String.init)
        let fields: (day: String, month: String, year: String, time: String)
        switch words.count {
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
            fields = (words[1], words[2], words[3], words[4])
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard date.count == 3 else { return nil }
            fields = (date[0], date[1], date[2], words[2])
        case 5:
            fields = (words[2], words[1], words[4], words[3])
        default:
            return nil
        }
        guard let month = Self.months.firstIndex(of: fields.month).map({ $0 + 1 }),
            let day = Self.number(fields.day, digits: 1...2),
            let year = Self.year(fields.year, now: now),
            day >= 1, day <= Self.days(inMonth: month, year: year),
            let time = Self.secondOfDay(fields.time)
        else { return nil }
        return Date(
            timeIntervalSince1970: Double(Self.daysSince1970(year: year, month: month, day: day) * 86_400 + time))
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    private static func year(_ text: String, now: Date) -> Int? {
        if let year = Self.number(text, digits: 4...4) { return year }
        guard let short = Self.number(text, digits: 2...2) else { return nil }
        // A rounded year is enough to tell centuries apart.
        let current = 1970 + Int((now.timeIntervalSince1970 / (365.2425 * 86_400)).rounded(.down))
        let year = current / 100 * 100 + short
        return year > current + 50 ? year - 100 : year
    }

    private static func secondOfDay(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = Self.number(parts[0], digits: 2...2), hour < 24,
            let minute = Self.number(parts[1], digits: 2...2), minute < 60,
            let second = Self.number(parts[2], digits: 2...2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func days(inMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The day number in the proleptic Gregorian calendar, counted from March so that the leap day comes last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}
