internal import FoundationEssentials
internal import TestSupport
internal import Testing

@testable internal import PushSimulator

/// The whole simulator over TLS and HTTP/2, asked by curl.
@Suite struct SimulatorTests {
    @Test func `a push is accepted, recorded and shown`() async throws {
        try await LiveSimulator.run { live async throws in
            let reply = try await live.curl(live.push())
            #expect(reply.status == 200)
            #expect(reply.body.isEmpty)
            #expect(reply.headers["apns-id"] == "5d5f3c9e-6c52-4e6a-8a58-11f64c1d5e33")
            let push = try #require(try await live.simulator.waitForReceived(count: 1, within: .seconds(90)).first)
            #expect(push.provider == .apns)
            #expect(push.environment == .production)
            #expect(push.path == "/3/device/\(Sample.deviceToken)")
            #expect(push.deviceToken == Sample.deviceToken)
            #expect(push.headers["apns-topic"] == Sample.topic)
            #expect(push.body == Sample.payload)
            #expect(push.status == 200)
            #expect(
                PushLine.text(push, coloured: false)
                    == "apns production contact_updated \"Anna updated her details / Phone number and address\" badge 3 → 200"
            )
            #expect(PushLine.text(push, coloured: true).contains("\u{1B}[32m→ 200\u{1B}[0m"))

            let listed = try await live.control("GET", "/received")
            guard case .array(let pushes)? = listed.json else {
                Issue.record("not an array: \(listed.body)")
                return
            }
            #expect(pushes.count == 1)
            #expect(pushes.first?["provider"] == "apns")
            #expect(pushes.first?["body"]?.string == Sample.payload)
            #expect(pushes.first?["status"] == 200)
            #expect(pushes.first?["reason"] == .null)
            #expect(pushes.first?["headers"]?["apns-push-type"] == "alert")
            #expect(try #require(pushes.first?["at"]?.string).hasSuffix("Z"))
        }
    }

    @Test func `the hosts know different devices, so a mixed-up host is seen`() async throws {
        try await LiveSimulator.run { live async throws in
            let reply = try await live.curl(live.push(host: live.addresses.apnsDevelopment))
            #expect(reply.status == 400)
            #expect(reply.json?["reason"] == "BadDeviceToken")
            #expect(live.simulator.received().first?.environment == .development)
            let fcm = try await live.curl(live.push(host: live.addresses.fcm))
            #expect(fcm.status == 404)
            #expect(fcm.headers["content-type"]?.hasPrefix("text/html") == true)
        }
    }

    @Test func `a message goes the whole way: assertion, access token, name`() async throws {
        try await LiveSimulator.run { live async throws in
            let token = try #require(try await live.accessToken())
            let reply = try await live.curl(live.message(accessToken: token))
            #expect(reply.status == 200)
            #expect(reply.json?["name"]?.string?.hasPrefix("projects/p/messages/0:") == true)
            #expect(reply.headers["date"]?.hasSuffix(" GMT") == true)
            #expect(live.simulator.tokenExchanges() == (issued: 1, refused: 0))
            let push = try #require(live.simulator.received().first)
            #expect(push.provider == .fcm)
            #expect(push.deviceToken == "t:1")
            #expect(PushLine.text(push, coloured: false) == "fcm system id=1 → 200")
            #expect(try await live.curl(live.message(accessToken: "wrong")).status == 401)
        }
    }

    @Test func `the certificate holds for every name of loopback and nothing without its authority`() async throws {
        try await LiveSimulator.run { live async throws in
            let port = live.addresses.port(of: .control)
            #expect(try await live.curl(["https://localhost:\(port)/health"]).status == 200)
            let other = try await Tool.run("/usr/bin/curl", ["-sS", "\(live.addresses.control)/health"])
            #expect(other.exitCode == 60)
        }
    }

    @Test func `HTTP 1 and old TLS are turned away`() async throws {
        try await LiveSimulator.run { live async throws in
            for role in SimulatorRole.allCases {
                let url = "https://127.0.0.1:\(live.addresses.port(of: role))/health"
                #expect(try await live.curl(["--http1.1", url]).exitCode == 35)
                #expect(try await live.curl(["--tls-max", "1.1", url]).exitCode == 35)
            }
            // Without ALPN APNs answers, Google does not.
            #expect(try await live.curl(["--no-alpn", live.addresses.fcm]).status == 0)
            #expect(try await live.curl(["--tls-max", "1.2", "\(live.addresses.control)/health"]).status == 200)
        }
    }

    @Test func `the control endpoints take devices, show counts and forget`() async throws {
        try await LiveSimulator.run { live async throws in
            let devices =
                #"[{"platform":"ios","token":"00FF","environment":"development","state":"expired","timestamp":5}]"#
            #expect(try await live.control("POST", "/devices", body: devices).json?["devices"] == 3)
            let expired = try await live.curl(live.push(token: "00ff", host: live.addresses.apnsDevelopment))
            #expect(expired.status == 410)
            #expect(expired.body == #"{"reason":"ExpiredToken","timestamp":5}"#)
            for _ in 0..<2 { #expect(try await live.curl(live.push()).status == 200) }

            let counts = try await live.control("GET", "/counts").json
            #expect(counts?["received"] == 3)
            #expect(counts?["accepted"] == 2)
            #expect(counts?["distinct"] == 1)
            #expect(counts?["duplicates"] == ["5d5f3c9e-6c52-4e6a-8a58-11f64c1d5e33": 2])
            #expect(counts?["byReason"] == ["ExpiredToken": 1])
            guard case .array(let last)? = try await live.control("GET", "/received?since=1&limit=1").json else {
                Issue.record("not an array")
                return
            }
            #expect(last.map { $0["number"] } == [3])

            #expect(try await live.control("DELETE", "/received").status == 200)
            #expect(try await live.control("GET", "/received").body == "[]\n")
            #expect(try await live.control("DELETE", "/devices").status == 200)
            #expect(try await live.curl(live.push()).json?["reason"] == "BadDeviceToken")
        }
    }

    @Test func `the control endpoints say what is wrong`() async throws {
        try await LiveSimulator.run { live async throws in
            #expect(try await live.control("POST", "/devices", body: "[{}]").status == 400)
            #expect(try await live.control("POST", "/devices", body: "{").status == 400)
            #expect(try await live.control("GET", "/received?since=x").status == 400)
            #expect(try await live.control("GET", "/elsewhere").status == 404)
            #expect(try await live.control("PUT", "/faults").status == 405)
            let slip = try await live.control("POST", "/faults", body: #"[{"provider":"apns","anwer":{}}]"#)
            #expect(slip.status == 400)
            #expect(slip.json?["error"]?.string?.contains("\"anwer\" is not known") == true)
        }
    }

    @Test func `waiting for pushes ends in time and on cancellation`() async throws {
        try await LiveSimulator.run { live async throws in
            let error = await #expect(throws: ReceiveTimeout.self) {
                try await live.simulator.waitForReceived(count: 1, within: .milliseconds(20))
            }
            #expect(error?.received == 0)
            let simulator = live.simulator
            let waiting = Task { try await simulator.waitForReceived(count: 1, within: .seconds(60)) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func `a simulator comes back on the same ports with the same authority`() async throws {
        let ports = try FixedPorts.draw(SimulatorRole.allCases.count)
        try await LiveSimulator.run({ $0.options.ports = ports }) { live async throws in
            await live.simulator.stop()
            await live.simulator.stop()
            #expect(try await live.curl(live.push()).exitCode == 7)
            var configuration = SimulatorConfiguration(credentials: LiveSimulator.credentials)
            configuration.options.ports = live.simulator.ports
            configuration.options.certificates = live.simulator.certificates
            configuration.options.devices = LiveSimulator.devices
            let second = try await PushSimulator.start(configuration)
            #expect(try await live.curl(live.push()).status == 200)
            #expect(second.counts().accepted == 1)
            let error = await #expect(throws: ListenError.self) { try await PushSimulator.start(configuration) }
            #expect(error?.port == live.simulator.ports.first)
            await second.stop()
        }
    }

    @Test func `a simulator that nobody holds any more is gone`() async throws {
        var simulator: PushSimulator? = try await PushSimulator.start(
            SimulatorConfiguration(credentials: LiveSimulator.credentials))
        let url = try #require(simulator?.addresses.control)
        #expect(try await Tool.run("/usr/bin/curl", ["-sSk", url]).exitCode == 0)
        simulator = nil
        #expect(try await Tool.run("/usr/bin/curl", ["-sSk", url]).exitCode == 7)
    }

    @Test func `the directory leads a worker to the simulator`() async throws {
        try await LiveSimulator.run { live async throws in
            let environment = try String(contentsOfFile: "\(live.directory)/environment", encoding: .utf8)
            #expect(environment.contains("export APNS_KEY_FILE='\(live.directory)/apns.p8'\n"))
            #expect(environment.contains("export APNS_URL='\(live.addresses.apnsProduction)'\n"))
            #expect(environment.contains("export APNS_TOPIC='\(Sample.topic)'\n"))
            #expect(environment.contains("export PUSH_CA_FILE='\(live.directory)/ca.pem'\n"))
            let key = try String(contentsOfFile: "\(live.directory)/apns.p8", encoding: .utf8)
            #expect(key.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            let account = try String(contentsOfFile: "\(live.directory)/service-account.json", encoding: .utf8)
            #expect(OrderedJSON(Array(account.utf8))?["token_uri"]?.string == live.addresses.tokenURI)
            let rights = try await Tool.run("/usr/bin/stat", ["-c", "%a", "\(live.directory)/apns.p8"])
            #expect(rights.output == "600\n")
        }
    }
}
