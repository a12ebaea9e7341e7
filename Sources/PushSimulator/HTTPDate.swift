internal import struct FoundationEssentials.Date

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the form of the `date` header (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    static func text(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down))
        let day = seconds / 86_400, second = seconds % 86_400
        // Days to a civil date, counted in years that begin in March (H. Hinnant, "chrono-compatible low-level date
        // algorithms"); the simulator lives after 1970.
        let shifted = day + 719_468
        let era = shifted / 146_097, dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 2 : monthFromMarch - 10
        let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
        let time = [second / 3600, second / 60 % 60, second % 60].map(Self.twoDigits).joined(separator: ":")
        return "\(Self.weekdays[day % 7]), \(Self.twoDigits(dayOfMonth)) \(Self.months[month]) \(year) \(time) GMT"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
