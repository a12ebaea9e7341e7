internal import QueueInspection
internal import Testing

struct CappedCountTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (1007, "1,007"), (9999, "9,999"), (10_000, "10,000"),
        (10_001, "10,000+"), (-1, "0"),
    ])
    func `a count is shown up to ten thousand`(counted: Int, shown: String) {
        #expect(CappedCount(counted: counted).description == shown)
    }
}
