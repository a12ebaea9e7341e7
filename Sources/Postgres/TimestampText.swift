internal import struct FoundationEssentials.Date

/// Points in time as PostgreSQL writes them with `DateStyle` ISO: `2026-11-30 11:20:00.123456+00`.
enum TimestampText {
    /// 2001-01-01, where `Date` counts from; nearer to today than 1970, so a `Double` holds the microsecond.
    private static let referenceDay = daysSince1970(year: 2001, month: 1, day: 1)
    private static let microsecondsPerDay = 86_400_000_000

    static func append(_ date: Date, to bytes: inout [UInt8]) throws(PostgresError) {
        let microseconds = (date.timeIntervalSinceReferenceDate * 1e6).rounded()
        // PostgreSQL's own range ends late in the year 294276; years before 1 would need "BC".
        guard microseconds >= -63_113_904_000_000_000, microseconds < 9_200_000_000_000_000_000 else {
            throw .invalidParameter("a date that PostgreSQL cannot hold, or before the year 1")
        }
        let total = Int(microseconds)
        var day = total / microsecondsPerDay
        var rest = total % microsecondsPerDay
        if rest < 0 {
            rest += microsecondsPerDay
            day -= 1
        }
        let (year, month, dayOfMonth) = civil(daysSince1970: day + referenceDay)
        append(year, width: 4, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(month, width: 2, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(dayOfMonth, width: 2, to: &bytes)
        bytes.append(UInt8(ascii: " "))
        append(rest / 3_600_000_000, width: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(rest / 60_000_000 % 60, width: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(rest / 1_000_000 % 60, width: 2, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        append(rest % 1_000_000, width: 6, to: &bytes)
        bytes.append(contentsOf: "+00".utf8)
    }

    /// Reads `timestamptz`, `timestamp` (as UTC) and `date` (midnight UTC); `nil` for anything else, also for `infinity`
    /// and years before 1, which no date of the application is.
    static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Date? {
        var reader = Reader(text: text)
        guard let year = reader.number(digits: 4...6), reader.take("-"), let month = reader.number(digits: 2...2),
            reader.take("-"), let day = reader.number(digits: 2...2), year > 0, (1...12).contains(month),
            (1...31).contains(day)
        else { return nil }
        var seconds = (daysSince1970(year: year, month: month, day: day) - referenceDay) * 86_400
        var fraction = 0.0
        if !reader.isAtEnd {
            guard reader.take(" "), let hour = reader.number(digits: 2...2), reader.take(":"),
                let minute = reader.number(digits: 2...2), reader.take(":"), let second = reader.number(digits: 2...2)
            else { return nil }
            seconds += hour * 3600 + minute * 60 + second
            if reader.take(".") {
                guard let value = reader.fraction() else { return nil }
                fraction = value
            }
            if !reader.isAtEnd {
                guard let offset = reader.offset() else { return nil }
                seconds -= offset
            }
        }
        guard reader.isAtEnd else { return nil }
        return Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
    }

    private struct Reader {
        let text: UnsafeBufferPointer<UInt8>
        var position = 0

        var isAtEnd: Bool { self.position == self.text.count }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard self.position < self.text.count, self.text[self.position] == UInt8(ascii: character) else {
                return false
            }
            self.position += 1
            return true
        }

        mutating func number(digits: ClosedRange<Int>) -> Int? {
            let start = self.position
            var value = 0
            while self.position < self.text.count, self.position - start < digits.upperBound {
                let digit = self.text[self.position] &- UInt8(ascii: "0")
                guard digit < 10 else { break }
                value = value * 10 + Int(digit)
                self.position += 1
            }
            return digits.contains(self.position - start) ? value : nil
        }

        mutating func fraction() -> Double? {
            let start = self.position
            guard let value = self.number(digits: 1...6) else { return nil }
            var microseconds = value
            for _ in (self.position - start)..<6 { microseconds *= 10 }
            return Double(microseconds) / 1e6
        }

        /// `+00`, `-03:30`, or with seconds as some places had before 1900.
        mutating func offset() -> Int? {
            let isNegative = self.take("-")
            guard isNegative || self.take("+"), var seconds = self.number(digits: 2...2).map({ $0 * 3600 }) else {
                return nil
            }
            for unit in [60, 1] where self.take(":") {
                guard let value = self.number(digits: 2...2) else { return nil }
                seconds += value * unit
            }
            return isNegative ? -seconds : seconds
        }
    }

    /// Decimal, with zeros in front up to `width`; nothing here is negative.
    private static func append(_ value: Int, width: Int, to bytes: inout [UInt8]) {
        if width > 1 || value > 9 { self.append(value / 10, width: width - 1, to: &bytes) }
        bytes.append(UInt8(ascii: "0") + UInt8(value % 10))
    }

    // MARK: - The Gregorian calendar
    // In eras of 400 years (146 097 days) that begin on 1 March, so that a leap day is the last of its year.

    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
