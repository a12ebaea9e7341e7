internal import FoundationEssentials
internal import Testing

@testable internal import PushSimulator

/// Faults as a client meets them.
@Suite struct FaultTests {
    private static func run(
        _ rules: FaultRule..., body: (LiveSimulator) async throws -> Void
    ) async throws {
        try await LiveSimulator.run({ $0.options.faults = FaultPlan(rules) }, body)
    }

    @Test func `an answer comes as often as it should, in the provider's shape`() async throws {
        try await Self.run(
            FaultRule(.apns, count: 2, answer: .init(status: 503, reason: "ServiceUnavailable", retryAfter: "7"))
        ) { live async throws in
            for _ in 0..<2 {
                let reply = try await live.curl(live.push())
                #expect(reply.status == 503)
                #expect(reply.body == #"{"reason":"ServiceUnavailable"}"#)
                #expect(reply.headers["retry-after"] == "7")
                #expect(reply.headers["apns-id"] == "5d5f3c9e-6c52-4e6a-8a58-11f64c1d5e33")
            }
            #expect(try await live.curl(live.push()).status == 200)
            #expect(live.simulator.received().map(\.fault) == ["answer", "answer", nil])
        }
    }

    @Test func `a plan may be loaded by hand and taken away again`() async throws {
        try await LiveSimulator.run { live async throws in
            let plan =
                #"{"seed":3,"rules":[{"provider":"apns","token":"\#(Sample.deviceToken)","answer":{"status":410,"reason":"Unregistered","timestamp":99}}]}"#
            #expect(try await live.control("POST", "/faults", body: plan).json?["rules"] == 1)
            #expect(try await live.curl(live.push()).body == #"{"reason":"Unregistered","timestamp":99}"#)
            guard case .array(let rules)? = try await live.control("GET", "/faults").json else {
                Issue.record("not an array")
                return
            }
            #expect(rules.first?["applied"] == 1)
            #expect(try await live.control("DELETE", "/faults").status == 200)
            #expect(try await live.curl(live.push()).status == 200)
        }
    }

    @Test func `FCM's errors carry the code, a gateway's are HTML`() async throws {
        try await Self.run(
            FaultRule(.fcm, count: 1, answer: .init(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: "30")),
            FaultRule(.fcm, count: 1, answer: .init(status: 502, body: "<html>try in 30 seconds</html>")),
            FaultRule(.fcm, count: 1, answer: .init(status: 401, reason: "THIRD_PARTY_AUTH_ERROR")),
            FaultRule(.token, answer: .init(status: 500))
        ) { live async throws in
            #expect(try await live.accessToken() == nil)
            live.simulator.setFaults(
                FaultPlan([
                    FaultRule(.fcm, count: 1, answer: .init(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: "30")),
                    FaultRule(.fcm, count: 1, answer: .init(status: 502, body: "<html>try in 30 seconds</html>")),
                ]))
            let token = try #require(try await live.accessToken())
            let quota = try await live.curl(live.message(accessToken: token))
            #expect(quota.status == 429)
            #expect(quota.headers["retry-after"] == "30")
            #expect(quota.json?["error"]?["status"] == "RESOURCE_EXHAUSTED")
            let gateway = try await live.curl(live.message(accessToken: token))
            #expect(gateway.status == 502)
            #expect(gateway.headers["content-type"] == "text/html")
            #expect(try await live.curl(live.message(accessToken: token)).status == 200)
        }
    }

    @Test func `silence is accepted and never answered`() async throws {
        try await Self.run(FaultRule(.apns, silence: true)) { live async throws in
            let reply = try await live.curl(live.push(), seconds: 1)
            #expect(reply.exitCode == 28)
            #expect(live.simulator.received().map(\.status) == [200])
            #expect(live.simulator.received().map(\.fault) == ["silence"])
        }
    }

    @Test func `a delay holds the answer back`() async throws {
        try await Self.run(FaultRule(.apns, delayMilliseconds: 300)) { live async throws in
            let start = ContinuousClock.now
            #expect(try await live.curl(live.push()).status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
    }

    @Test func `a closed connection is closed before or after the push counts`() async throws {
        try await Self.run(
            FaultRule(.apns, count: 1, closeConnection: .beforeHandling),
            FaultRule(.apns, count: 1, closeConnection: .afterHandling)
        ) { live async throws in
            #expect(try await live.curl(live.push()).status == 0)
            #expect(live.simulator.received().isEmpty)
            #expect(try await live.curl(live.push()).status == 0)
            #expect(live.simulator.received().map(\.status) == [200])
            #expect(try await live.curl(live.push()).status == 200)
        }
    }

    @Test func `a stream is reset, before or after its headers`() async throws {
        try await Self.run(
            FaultRule(.apns, count: 1, resetStream: 2),
            FaultRule(.apns, count: 1, resetStream: 11, resetAfterHeaders: true)
        ) { live async throws in
            let first = try await live.frames(paths: ["/3/device/\(Sample.deviceToken)"])
            #expect(first.contains("recv RST_STREAM frame"))
            #expect(first.contains("error_code=INTERNAL_ERROR(0x02)"))
            #expect(!first.contains("recv HEADERS"))
            let second = try await live.frames(paths: ["/3/device/\(Sample.deviceToken)"])
            #expect(second.contains(":status: 200"))
            #expect(second.contains("error_code=ENHANCE_YOUR_CALM(0x0b)"))
        }
    }

    @Test func `GOAWAY names the last stream, with or without the request that met it`() async throws {
        let path = "/3/device/\(Sample.deviceToken)"
        try await Self.run(
            FaultRule(.apns, count: 1, goaway: .init(reason: "Shutdown")),
            FaultRule(.apns, count: 1, goaway: .init(handlesRequest: false))
        ) { live async throws in
            let handled = try await live.frames(paths: [path])
            #expect(handled.contains("recv GOAWAY frame"))
            #expect(handled.contains(#"{"reason":"Shutdown"}"#))
            #expect(handled.contains(":status: 200"))
            #expect(live.simulator.received().count == 1)
            let refused = try await live.frames(paths: [path])
            #expect(refused.contains("last_stream_id=0, error_code=NO_ERROR(0x00), opaque_data(0)=[]"))
            #expect(!refused.contains(":status:"))
            #expect(live.simulator.received().count == 1)
            #expect(try await live.curl(live.push()).status == 200)
        }
    }

    @Test func `an injected expiry spoils the connection like a real one`() async throws {
        try await Self.run(
            FaultRule(.apns, count: 1, answer: .init(status: 403, reason: "ExpiredProviderToken"))
        ) { live async throws in
            let url = "\(live.addresses.apnsProduction)/3/device/\(Sample.deviceToken)"
            // Two URLs, one connection.
            let both = try await live.curl(live.push() + [url])
            #expect(both.status == 403)
            #expect(live.simulator.received().map(\.reason) == ["ExpiredProviderToken", "ExpiredProviderToken"])
            #expect(try await live.curl(live.push()).status == 200)
        }
    }

    @Test func `the date of the token endpoint may be off`() async throws {
        try await Self.run(FaultRule(.token, dateOffsetSeconds: -3600)) { live async throws in
            let reply = try await live.curl(["-d", "x=1", live.addresses.tokenURI])
            #expect(reply.status == 400)
            #expect(reply.headers["date"] != nil)
            #expect(try await live.accessToken() != nil)
        }
    }

    @Test func `every connection may be ended from outside`() async throws {
        try await Self.run(FaultRule(.apns, silence: true)) { live async throws in
            let arguments = live.push()
            async let reply = live.curl(arguments)
            try await live.simulator.waitForReceived(count: 1, within: .seconds(90))
            live.simulator.abortConnections()
            #expect(try await reply.exitCode != 28)
        }
    }
}

/// The plan as a value.
@Suite struct FaultPlanTests {
    @Test func `rules meet what they name, after and as often as they say`() {
        var plan = FaultPlan([
            FaultRule(.apns, environment: .development, token: "aa", after: 1, count: 2, silence: true)
        ])
        func met(_ provider: FaultRule.Provider, _ environment: APNSEnvironment?, _ token: String?) -> Bool {
            plan.rule(provider: provider, environment: environment, token: token) != nil
        }
        #expect(!met(.fcm, nil, "aa"))
        #expect(!met(.apns, .production, "aa"))
        #expect(!met(.apns, .development, "bb"))
        #expect((0..<4).map { _ in met(.apns, .development, "aa") } == [false, true, true, false])
        #expect(plan.matched == [3])
        #expect(plan.applied == [2])
    }

    @Test func `a share is met in the same places with the same seed`() {
        func hits(seed: UInt64) -> [Bool] {
            var plan = FaultPlan([FaultRule(.fcm, share: 0.3, silence: true)], seed: seed)
            return (0..<1000).map { _ in plan.rule(provider: .fcm) != nil }
        }
        let first = hits(seed: 7)
        #expect(first == hits(seed: 7))
        #expect(first != hits(seed: 8))
        #expect((250...350).contains(first.count { $0 }))
    }

    @Test(
        arguments: [
            ("x", "not JSON"),
            (#"{"rule":[]}"#, "\"rule\" is not known here; known are rules, seed"),
            (#"{"rules":{}}"#, "rules is not an array"),
            (#"[{"provider":"apns"}]"#, "rule 1: a rule without an effect"),
            (
                #"[{"provider":"fcm","silence":true},{"provider":"fcm","share":2,"silence":true}]"#,
                "rule 2: share is not from 0 to 1"
            ),
            (#"[{"provider":"fcm","environment":"production","silence":true}]"#, "rule 1: environment belongs to apns"),
            (#"[{"provider":"apns","answer":{"status":99}}]"#, "rule 1: answer.status is not from 200 to 599"),
            (
                #"[{"provider":"apns","answer":{"stat":99}}]"#,
                "\"stat\" is not known here; known are body, reason, retryAfter, status, timestamp"
            ),
        ])
    func `a plan with a slip in it is refused`(json: String, reason: String) {
        let error = #expect(throws: FaultPlanError.self) { try FaultPlan(json: Array(json.utf8)) }
        #expect(error?.description == "the fault plan: \(reason)")
    }

    @Test func `a plan is read from both shapes`() throws {
        let rule =
            #"{"provider":"apns","environment":"production","count":3,"answer":{"status":500,"reason":"InternalServerError"}}"#
        let expected = [
            FaultRule(
                .apns, environment: .production, count: 3, answer: .init(status: 500, reason: "InternalServerError"))
        ]
        #expect(try FaultPlan(json: Array("[\(rule)]".utf8)).rules == expected)
        #expect(try FaultPlan(json: Array(#"{"rules":[\#(rule)],"seed":9}"#.utf8)).rules == expected)
    }
}
