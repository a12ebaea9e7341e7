import FoundationEssentials
import PushModel
import Testing

@Suite struct RetryAfterTests {
    /// 21 October 2026, 07:28:00 in Greenwich.
    static let now = Date(timeIntervalSince1970: 1_792_567_680)

    @Test(arguments: [
        ("0", 0), ("30", 30), (" 30 ", 30), ("\t120", 120), ("0030", 30), ("86400", 86_400),
        // Absurd, past and negative are bounded.
        ("86401", 86_400), ("999999999999", 86_400), ("99999999999999999999999999999999", 86_400), ("-1", 0), ("-0", 0),
        ("-99999999999999999999999999999999", 0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 0), ("Wed, 21 Oct 2026 07:28:30 GMT", 30),
        ("Wed, 21 Oct 2026 08:28:00 GMT", 3600), ("Wednesday, 21-Oct-26 07:28:30 GMT", 30),
        ("Wed Oct 21 07:28:30 2026", 30), ("Wed, 21 Oct 2026 07:27:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
    ])
    func reads(_ text: String, _ seconds: Int) {
        #expect(RetryAfter.parse(text, now: Self.now) == .seconds(seconds))
    }

    @Test func partsOfASecondAreWaitedOut() {
        let wait = RetryAfter.parse("Wed, 21 Oct 2026 07:28:30 GMT", now: Self.now + 0.25)
        #expect(wait == .seconds(30))
    }

    @Test(arguments: [
        "", " ", "-", "--1", "+5", "1.5", "1e3", "0x10", "30s", "soon", "٣٠", "30, 60", "\u{0}", "Wed", "GMT",
        "Wed, 21 Oct 2026 07:28:00", "Wed, 21 Oct 2026 07:28:00 CET", "Wed, 32 Oct 2026 07:28:00 GMT",
        "Wed, 00 Oct 2026 07:28:00 GMT", "Wed, 21 Okt 2026 07:28:00 GMT", "Wed, 21 Oct 2026 25:28:00 GMT",
        "Wed, 21 Oct 2026 07:60:00 GMT", "Wed, 21 Oct 2026 07:28 GMT", "2026-10-21T07:28:00Z",
        String(repeating: "9", count: 100_000), String(repeating: "Wed, ", count: 100_000),
    ])
    func isNotDeceived(_ text: String) {
        #expect(RetryAfter.parse(text, now: Self.now) == nil)
    }
}

@Suite struct HTTPDateTests {
    static let now = Date(timeIntervalSince1970: 1_792_567_680)

    /// Checked with `date -u -d`.
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Thu, 31 Dec 2026 23:59:60 GMT", 1_798_761_600),
        ("Thu, 31 Dec 1969 23:59:59 GMT", -1), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        // Within fifty years ahead, else of the century before.
        ("Thursday, 01-Jan-76 00:00:00 GMT", 3_345_062_400), ("Friday, 01-Jan-77 00:00:00 GMT", 220_924_800),
    ])
    func readsTheThreeFormats(_ text: String, _ seconds: Int) {
        #expect(HTTPDate.parse(text, now: Self.now)?.timeIntervalSince1970 == Double(seconds))
    }

    @Test(arguments: [
        "Wed, 29 Feb 2023 00:00:00 GMT", "Mon, 29 Feb 2100 00:00:00 GMT", "Wed, 31 Apr 2026 00:00:00 GMT",
        "Wed, 21 Oct 226 07:28:00 GMT", "Wed, 21 Oct 02026 07:28:00 GMT", "Wed, -1 Oct 2026 07:28:00 GMT",
        "Wed, 21 Oct 2026 24:00:00 GMT", "Wed, 21 Oct 2026 00:00:61 GMT", "Wed, 21 oct 2026 00:00:00 GMT", "",
    ])
    func refusesWhatIsNoDate(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }
}
