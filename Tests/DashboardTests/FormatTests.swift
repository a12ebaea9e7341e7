import FoundationEssentials
import TestSupport
import Testing

@testable import Dashboard

struct FormatTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678"), (-1234, "−1,234"),
        (Int.max, "9,223,372,036,854,775,807"), (Int.min, "−9,223,372,036,854,775,808"),
    ])
    func `a number is grouped by thousands`(value: Int, expected: String) {
        #expect(Format.number(value) == expected)
    }

    @Test(arguments: [
        (0.0, "0 s"), (0.0001, "under 1 ms"), (0.34, "340 ms"), (0.9994, "999 ms"), (0.9996, "1 s"), (2.44, "2.4 s"),
        (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min"), (200.0, "3 min 20 s"), (3600.0, "1 h"), (7500.0, "2 h 5 min"),
        (273_600.0, "3 d 4 h"), (-1.0, "0 s"), (Double.nan, "0 s"), (Double.infinity, "0 s"), (1e300, "11574074 d 1 h"),
    ])
    func `a length of time has at most two units`(seconds: Double, expected: String) {
        #expect(Format.duration(seconds: seconds) == expected)
    }

    @Test(arguments: [
        (0.0, "0 s ago"), (59.9, "59 s ago"), (60.0, "1 min ago"), (7199.0, "1 h ago"), (-95.0, "in 1 min"),
        (86_400.0 * 3, "3 d ago"),
    ])
    func `a moment is told from now`(seconds: Double, expected: String) {
        #expect(Format.relative(Sample.now.addingTimeInterval(-seconds), now: Sample.now) == expected)
    }

    @Test func `moments are in UTC`() {
        #expect(Format.dateAndTime(Sample.now) == "2026-11-14 08:00:00")
        #expect(Format.machine(Sample.now) == "2026-11-14T08:00:00Z")
        #expect(Format.preciseTime(Sample.now.addingTimeInterval(0.25)) == "08:00:00.250")
        #expect(Format.preciseTime(Sample.now.addingTimeInterval(0.9996)) == "08:00:00.999")
        #expect(Format.minute(Sample.now) == "08:00")
    }

    @Test(arguments: [
        (0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (310_000_000, "310 MB"), (2_500_000_000, "2.5 GB"),
    ])
    func `sizes have a unit`(count: Int, expected: String) {
        #expect(Format.bytes(count) == expected)
    }
}
