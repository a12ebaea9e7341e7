internal import FoundationEssentials
internal import Testing

@testable internal import PushSimulator

/// What happens below the requests, seen in nghttp's trace of frames and under h2load's load.
@Suite struct FrameTests {
    private static let path = "/3/device/\(Sample.deviceToken)"

    @Test func `APNs begins with one stream and allows 1000 after a valid token`() async throws {
        try await LiveSimulator.run { live async throws in
            let frames = try await live.frames(paths: [Self.path])
            #expect(
                frames.contains(
                    """
                    [SETTINGS_HEADER_TABLE_SIZE(0x01):4096]
                              [SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1]
                              [SETTINGS_INITIAL_WINDOW_SIZE(0x04):65535]
                              [SETTINGS_MAX_FRAME_SIZE(0x05):16384]
                              [SETTINGS_MAX_HEADER_LIST_SIZE(0x06):8000]
                    """))
            #expect(frames.contains("[SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1000]"))
            #expect(frames.contains(":status: 200"))
        }
    }

    @Test func `without a valid token the limit stays one`() async throws {
        try await LiveSimulator.run { live async throws in
            let frames = try await live.frames(token: "a.b.c", paths: [Self.path])
            #expect(frames.contains(":status: 403"))
            #expect(!frames.contains("[SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1000]"))
        }
    }

    @Test func `a message's answer ends with an empty frame, an APNs error with its only one`() async throws {
        try await LiveSimulator.run { live async throws in
            let token = try #require(try await live.accessToken())
            try Sample.message.write(toFile: "\(live.directory)/body", atomically: true, encoding: .utf8)
            let frames = try await live.nghttp([
                "-d", "\(live.directory)/body", "-H", "authorization: Bearer \(token)",
                "\(live.addresses.fcm)/v1/projects/p/messages:send",
            ])
            #expect(frames.contains("[SETTINGS_MAX_CONCURRENT_STREAMS(0x03):100]"))
            #expect(frames.matches(of: /recv DATA frame <length=0, flags=0x01/).count == 1)
            #expect(frames.matches(of: /recv DATA frame/).count == 2)
            let error = try await live.frames(paths: ["/3/device/00"])
            #expect(error.matches(of: /recv DATA frame/).count == 1)
        }
    }

    @Test func `Google ends idle and old connections`() async throws {
        try await LiveSimulator.run({ $0.options.fcmMaxAge = .milliseconds(10) }) { live async throws in
            live.simulator.setFaults(FaultPlan([FaultRule(.fcm, silence: true)]))
            let token = try #require(try await live.accessToken())
            try Sample.message.write(toFile: "\(live.directory)/body", atomically: true, encoding: .utf8)
            let frames = try await live.nghttp(
                [
                    "-d", "\(live.directory)/body", "-H", "authorization: Bearer \(token)",
                    "\(live.addresses.fcm)/v1/projects/p/messages:send",
                ], seconds: 4)
            #expect(frames.contains("recv GOAWAY frame"))
            #expect(frames.contains("max_age"))
        }
    }

    @Test func `headers over 8000 bytes are refused, not cut`() async throws {
        try await LiveSimulator.run { live async throws in
            let reply = try await live.curl(["-H", "x-long: \(String(repeating: "x", count: 8000))"] + live.push())
            #expect(reply.status == 431)
        }
    }

    @Test func `a large body is counted, not kept`() async throws {
        try await LiveSimulator.run { live async throws in
            let large = Data(repeating: UInt8(ascii: "x"), count: 1_000_000)
            try large.write(to: URL(filePath: "\(live.directory)/large"))
            var arguments = live.push()
            let index = try #require(arguments.firstIndex(of: Sample.payload))
            arguments[index] = "@\(live.directory)/large"
            let reply = try await live.curl(arguments)
            #expect(reply.status == 413)
            #expect(reply.json?["reason"] == "PayloadTooLarge")
            #expect(live.simulator.received().first?.body.utf8.count == 65_536)
        }
    }

    @Test func `many clients at once are all answered`() async throws {
        try await LiveSimulator.run { live async throws in
            try Sample.payload.write(toFile: "\(live.directory)/body", atomically: true, encoding: .utf8)
            let result = try await Tool.run(
                "/usr/bin/h2load",
                [
                    "-t1", "-c8", "-m20", "-n2000", "-d", "\(live.directory)/body", "-H",
                    "authorization: bearer \(live.providerToken)", "-H", "apns-topic: \(Sample.topic)", "-H",
                    "apns-push-type: alert", live.addresses.apnsProduction + Self.path,
                ])
            // h2load opens its streams before it has read the limit of one, so some are refused; none is lost.
            #expect(result.output.contains("2000 total, 2000 started, 2000 done"))
            let succeeded = result.output.firstMatch(of: /(\d+) succeeded/).flatMap { Int($0.1) }
            #expect(succeeded == live.simulator.counts().accepted)
            #expect(try #require(succeeded) > 1800)
        }
    }

    @Test func `accept-all answers everything and records nothing`() async throws {
        try await LiveSimulator.run({ $0.options.acceptsAll = true }) { live async throws in
            for url in [live.addresses.apnsProduction + Self.path, live.addresses.fcm + "/v1/projects/p/messages:send"]
            {
                let result = try await Tool.run("/usr/bin/h2load", ["-t1", "-c2", "-m100", "-n5000", url])
                #expect(result.output.contains("5000 2xx"))
            }
            #expect(live.simulator.acceptedUnseen() == 10_000)
            #expect(live.simulator.received().isEmpty)
            let reply = try await live.curl(live.push(token: "nobody"))
            #expect(reply.status == 200)
            #expect(reply.headers["apns-id"] == "5d5f3c9e-6c52-4e6a-8a58-11f64c1d5e33")
        }
    }

    @Test func `stopping does not wait for clients that never leave`() async throws {
        try await LiveSimulator.run({ $0.options.faults = FaultPlan([FaultRule(.apns, silence: true)]) }) {
            live async throws in
            let arguments = live.push()
            async let reply = live.curl(arguments, seconds: 30)
            try await live.simulator.waitForReceived(count: 1, within: .seconds(90))
            let start = ContinuousClock.now
            await live.simulator.stop()
            #expect(ContinuousClock.now - start < .seconds(5))
            #expect(try await reply.exitCode != 28)
        }
    }
}
