internal import Testing

@testable internal import push_fanout

@Suite struct ConfiguredDurationTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("0s", .zero), ("30s", .seconds(30)), ("15m", .seconds(900)),
        ("12h", .seconds(43_200)), ("28d", .seconds(2_419_200)), ("007s", .seconds(7)),
        ("999999999d", .seconds(999_999_999 * 86_400)),
    ])
    func `a number with its unit is a time`(_ text: String, _ expected: Duration) {
        #expect(Duration(configuration: text) == expected)
    }

    @Test(arguments: [
        "", "5", "s", "ms", "-5s", "+5s", "1.5s", "1,5s", " 5s", "5 s", "5s ", "5S", "5sec", "5w", "1h30m", "0x5s",
        "٣s",
        "1e3s", "1000000000s", "99999999999999999999s", "5s\n", "5\u{0}s", "5µs",
    ])
    func `anything else is none`(_ text: String) {
        #expect(Duration(configuration: text) == nil)
    }
}
