internal import FoundationEssentials
internal import Testing

@testable internal import PushSimulator

@Suite struct OrderedJSONTests {
    @Test(
        arguments: [
            ("null", .null), (" true ", .bool(true)), ("-0", .integer(0)), ("12", .integer(12)),
            ("1.5e2", .number(150)), ("\"a\\u00e9\\n\\ud83d\\ude00\"", "aé\n😀"), ("[]", []), ("[1,[2]]", [1, [2]]),
            ("{\"b\":1,\"a\":{\"b\":2},\"b\":3}", ["b": 1, "a": ["b": 2], "b": 3]),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)),
        ] as [(String, OrderedJSON)])
    func `what is JSON is read, in its order`(text: String, value: OrderedJSON) {
        #expect(OrderedJSON(Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "", "{", "{\"a\"}", "{a:1}", "[1,]", "01", "1.", "+1", ".5", "tru", "\"a", "\"\\x\"", "\"\\ud800\"", "\"a\nb\"",
        "1 2", "{\"a\":1,}", "nulll", String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
    ]) func `what is not JSON is not read`(text: String) {
        #expect(OrderedJSON(Array(text.utf8)) == nil)
    }

    @Test func `bytes that are not UTF-8 are not a string`() {
        #expect(OrderedJSON([0x22, 0xFF, 0x22]) == nil)
        #expect(OrderedJSON([0x22, 0xFF, 0x5C, 0x6E, 0x22]) == nil)
    }

    @Test func `a value is written as it was read`() {
        let text = #"{"a":[1,"x\n\"\\/é\u0001",null,true],"b":{}}"#
        #expect(OrderedJSON(Array(text.utf8))?.text == text)
    }
}

@Suite struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_790_000_000, "Mon, 21 Sep 2026 14:13:20 GMT"),
            (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] as [(Double, String)])
    func `dates have the form of the header`(seconds: Double, text: String) {
        #expect(HTTPDate.text(Date(timeIntervalSince1970: seconds)) == text)
    }
}

@Suite struct TimerQueueTests {
    @Test func `what is due comes in order, first come first served`() {
        let start = ContinuousClock.now
        var queue = TimerQueue<Int>()
        for value in [5, 3, 9, 1, 3, 7] { queue.add(value, due: start + .seconds(value)) }
        queue.add(30, due: start + .seconds(3))
        #expect(queue.nextDue == start + .seconds(1))
        #expect(queue.popDue(start) == nil)
        var values: [Int] = []
        while let value = queue.popDue(start + .seconds(8)) { values.append(value) }
        #expect(values == [1, 3, 3, 30, 5, 7])
        #expect(queue.nextDue == start + .seconds(9))
    }
}

@Suite struct ReceivedStoreTests {
    private static func push(
        provider: ReceivedPush.Provider = .apns, id: String = "a", status: Int = 200, reason: String? = nil,
        body: String = ""
    ) -> ReceivedPush {
        ReceivedPush(
            number: 0, provider: provider, path: "/3/device/aa", headers: ["apns-id": id], body: body, status: status,
            reason: reason, at: Sample.now)
    }

    @Test func `the newest are kept, all are counted, numbers go on`() {
        var store = ReceivedStore(capacity: 4)
        for index in 1...20 { _ = store.add(Self.push(id: "\(index)")) }
        #expect(store.all().map(\.number) == [17, 18, 19, 20])
        #expect(store.all(since: 18).map(\.number) == [19, 20])
        #expect(store.all(since: 17, limit: 1).map(\.number) == [20])
        #expect(store.all(since: 20).isEmpty)
        #expect(store.total == 20)
        store.clear()
        #expect(store.all().isEmpty)
        #expect(store.counts.received == 0)
        #expect(store.add(Self.push()).number == 21)
    }

    @Test func `a push that was accepted twice shows, by apns-id or by address and id`() {
        var store = ReceivedStore(capacity: 10)
        _ = store.add(Self.push(id: "AA"))
        _ = store.add(Self.push(id: "aa"))
        _ = store.add(Self.push(id: "bb", status: 503, reason: "ServiceUnavailable"))
        _ = store.add(Self.push(id: "bb"))
        for token in ["x", "y", "y"] {
            let body = #"{"message":{"token":"\#(token)","data":{"id":"1","kind":"k"}}}"#
            _ = store.add(Self.push(provider: .fcm, body: body))
        }
        #expect(store.counts.duplicates == ["aa": 2, "y 1": 2])
        #expect(store.counts.distinct == 4)
        #expect(store.counts.accepted == 6)
        #expect(store.counts.byStatus == ["200": 6, "503": 1])
        #expect(store.counts.byProvider == ["apns": 4, "fcm": 3])
    }

    @Test func `a line for the terminal holds no control characters`() {
        let body = #"{"aps":{"alert":{"title":"a\u001b[31mb","body":"c"},"badge":1},"kind":"system"}"#
        let line = PushLine.text(Self.push(status: 400, reason: "X\u{1B}", body: body), coloured: false)
        #expect(line == "apns system \"a[31mb / c\" badge 1 → 400 X")
    }
}
