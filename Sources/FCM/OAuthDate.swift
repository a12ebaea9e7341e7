/// The header `date` of an answer: IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
enum OAuthDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970, nil for any other text.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[0].count == 4, words[5] == "GMT" else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let month = self.months.firstIndex(of: String(words[2])),
            let day = self.number(words[1], 1...31), let year = self.number(words[3], 1970...9999),
            let hour = self.number(clock[0], 0...23), let minute = self.number(clock[1], 0...59),
            let second = self.number(clock[2], 0...60)
        else { return nil }
        return ((self.days(year, Int64(month) + 1, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else { return nil }
        return range.contains(number) ? number : nil
    }

    /// Days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the leap day
    /// is the last of its year.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
    }
}
