import FCM
import FoundationEssentials
import PushModel

/// Dates and waits in headers.
extension FuzzTarget {
    private static let dates = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sat, 14 Nov 2026 08:00:30 GMT", "Thu, 29 Feb 2024 23:59:60 GMT", "Fri, 31 Dec 9999 23:59:59 GMT",
        "Saturday, 14-Nov-76 08:00:30 GMT",
    ]
    private static let dateWords = [
        "Jan", "Feb", "Dec", "Mon, ", " GMT", ":60", "-31-", "29", "31", "2000", "1900", "0000",
    ]

    static let retryAfter = FuzzTarget(
        "retry-after",
        ["text": Corpus(.bytes, ["0", "1", "30", "120", "3600", "-5", " 10 "] + Self.dates, words: Self.dateWords)]
    ) { input throws(FuzzFinding) in
        guard let wait = RetryAfter.parse(input.text, now: Self.now) else { return .refused("none") }
        try expect(wait >= .zero && wait <= RetryAfter.longest, "a wait of \(wait)")
        if let seconds = Int(input.text), seconds >= 0 {
            try expect(
                wait == min(.seconds(min(seconds, 86_400)), RetryAfter.longest), "\(seconds) seconds are \(wait)")
        }
        return .read(wait == .zero ? "none" : wait == RetryAfter.longest ? "longest" : "some")
    }

    static let httpDate = FuzzTarget(
        "http-date", ["text": Corpus(.bytes, Self.dates, words: Self.dateWords)]
    ) { input throws(FuzzFinding) in
        guard let date = HTTPDate.parse(input.text, now: Self.now) else { return .refused("none") }
        // Read again in the one form all must write.
        let parts = date.formatted(.iso8601).split { "-T:Z".contains($0) }.map(String.init)
        let seconds = date.timeIntervalSince1970
        try expect(seconds == seconds.rounded() && abs(seconds) < 1e12, "\(seconds) seconds")
        guard parts.count == 5 || parts.count == 6, (-12_219_292_800..<253_402_300_800).contains(seconds) else {
            // Foundation counts Julian days before 15 October 1582; a leap second can end the last year.
            return .read("before 1582 or after 9999")
        }
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = (Int(parts[1]) ?? 1) - 1
        guard names.indices.contains(month) else { throw FuzzFinding("the date \(date)") }
        let text = "Sun, \(parts[2]) \(names[month]) \(parts[0]) \(parts[3...].joined(separator: ":")) GMT"
        try expect(HTTPDate.parse(text, now: Self.now) == date, "\(text) is another moment than \(date)")
        return .read(input.text.contains(",") ? (input.text.contains("-") ? "RFC 850" : "IMF-fixdate") : "asctime")
    }
}
