internal import PushModel
internal import QueueInspection
internal import Testing

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

struct FilterTests {
    private static let now = Date(timeIntervalSince1970: 1_796_000_000)

    @Test func `a filter is read from the pairs it writes`() throws {
        let filter = DeliveryFilter(
            account: UUID(), notification: UUID(), device: UUID(), kind: "contact_updated", platform: .android,
            state: .discarded, reason: "Unregistered", since: Date(timeIntervalSince1970: 1_795_000_000.25),
            until: Self.now)
        #expect(try DeliveryFilter(pairs: filter.pairs, now: Self.now) == filter)
        #expect(filter.pairs.map(\.name) == DeliveryFilter.Field.allCases.map(\.rawValue))
        #expect(DeliveryFilter().pairs.isEmpty)
    }

    @Test func `empty values and other names mean nothing`() throws {
        let filter = try DeliveryFilter(
            pairs: [(name: "state", value: ""), (name: "page", value: "3"), (name: "kind", value: "system")],
            now: Self.now)
        #expect(filter == DeliveryFilter(kind: "system"))
    }

    @Test(arguments: [
        ("account", "x"), ("device", "1"), ("platform", "symbian"), ("state", "done"), ("since", "yesterday"),
        ("until", "2026-02-30"), ("kind", "a\u{0}b"), ("reason", String(repeating: "x", count: 201)),
        ("since", "2026-11-30T25:00:00Z"), ("since", "-5m"), ("since", "99999999999d"),
    ])
    func `a value that cannot be meant is refused with its name`(name: String, value: String) {
        let error = #expect(throws: DeliveryFilter.Invalid.self) {
            try DeliveryFilter(pairs: [(name: name, value: value)], now: Self.now)
        }
        #expect(error?.description.hasPrefix(name + " ") == true)
    }

    @Test(arguments: [
        ("2026-11-30", 1_795_996_800.0), ("2026-11-30T14:05Z", 1_796_047_500), ("2026-11-30T14:05:01", 1_796_047_501),
        ("2026-11-30T14:05:01.250Z", 1_796_047_501.25), ("90s", 1_795_999_910), ("2h", 1_795_992_800),
        ("1d", 1_795_913_600),
    ])
    func `times are read as people write them`(text: String, seconds: Double) {
        #expect(MomentText.read(text, now: Self.now) == Date(timeIntervalSince1970: seconds))
    }

    @Test func `since after until is refused`() {
        #expect(throws: DeliveryFilter.Invalid.self) {
            try DeliveryFilter(
                pairs: [(name: "since", value: "1h"), (name: "until", value: "2h")], now: Self.now)
        }
    }

    @Test func `a JSON text is escaped and keeps its order`() {
        let node = JSONNode.object([
            ("b", .text("\"\\\n\u{1}\u{85}é")), ("a", .array([.null, .number(.nan), .bool(true)])),
        ])
        #expect(node.description == #"{"b":"\"\\\n\u0001\u0085é","a":[null,null,true]}"#)
    }
}
