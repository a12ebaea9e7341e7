internal import Cryptography
internal import FoundationEssentials
internal import JSONWebToken
internal import TestSupport

@testable internal import PushSimulator

/// A simulator on real ports, with the test keys, and curl to ask it.
struct LiveSimulator: Sendable {
    let simulator: PushSimulator
    /// Where its `ca.pem` and the rest are.
    let directory: String
    let providerToken: String

    static let credentials = SimulatorCredentials(
        apnsPrivateKey: TestKeys.p256, apnsKeys: [Sample.key], serviceAccount: Sample.account,
        serviceAccountPrivateKey: TestKeys.rsa)

    static let devices = [
        SimulatedDevice(platform: .ios, token: Sample.deviceToken),
        SimulatedDevice(platform: .android, token: "t:1"),
    ]

    /// Runs `body` against a simulator, which is stopped, its directory removed, whatever comes.
    static func run(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (LiveSimulator) async throws -> Void
    ) async throws {
        var configuration = SimulatorConfiguration(credentials: Self.credentials)
        configuration.options.devices = Self.devices
        change(&configuration)
        let simulator = try await PushSimulator.start(configuration)
        let directory = "/tmp/push-simulator-test-\(UUID().uuidString)"
        do {
            try simulator.writeDirectory(directory)
            let issuedAt = JSONValue.integer(Int64(Date().timeIntervalSince1970))
            let token = try Sample.providerToken(issuedAt: issuedAt)
            try await body(LiveSimulator(simulator: simulator, directory: directory, providerToken: token))
        } catch {
            await simulator.stop()
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        await simulator.stop()
        try FileManager.default.removeItem(atPath: directory)
    }

    var addresses: SimulatorAddresses { self.simulator.addresses }

    // MARK: - curl

    struct Reply: Sendable {
        var exitCode: Int32
        /// 0 without an answer.
        var status: Int
        var headers: [String: String]
        var body: String
        var json: OrderedJSON? { OrderedJSON(Array(self.body.utf8)) }
    }

    func curl(_ arguments: [String], seconds: Int = 20) async throws -> Reply {
        let result = try await Tool.run(
            "/usr/bin/curl", ["-sS", "-i", "--cacert", "\(self.directory)/ca.pem", "-m", String(seconds)] + arguments)
        guard let end = result.output.firstRange(of: "\r\n\r\n"), result.output.hasPrefix("HTTP/2 ") else {
            return Reply(exitCode: result.exitCode, status: 0, headers: [:], body: result.output)
        }
        let lines = result.output[..<end.lowerBound].split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count == 2 ? parts[1].trimmingPrefix(" ").description : ""
        }
        let status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }
        return Reply(
            exitCode: result.exitCode, status: status ?? 0, headers: headers,
            body: String(result.output[end.upperBound...]))
    }

    func control(_ method: String, _ path: String, body: String? = nil) async throws -> Reply {
        try await self.curl(["-X", method] + (body.map { ["-d", $0] } ?? []) + [self.addresses.control + path])
    }

    /// The arguments of curl for one push that is right.
    func push(
        token: String = Sample.deviceToken, host: String? = nil, id: String = "5d5f3c9e-6c52-4e6a-8a58-11f64c1d5e33"
    ) -> [String] {
        [
            "-H", "authorization: bearer \(self.providerToken)", "-H", "apns-topic: \(Sample.topic)", "-H",
            "apns-push-type: alert", "-H", "apns-id: \(id)", "-H", "content-type: application/json", "-d",
            Sample.payload, "\(host ?? self.addresses.apnsProduction)/3/device/\(token)",
        ]
    }

    /// An access token, got as a worker gets it.
    func accessToken() async throws -> String? {
        let now = Int64(Date().timeIntervalSince1970)
        let assertion = try TokenEndpointValidatorTests.assertion(
            audience: self.addresses.tokenURI, issuedAt: now, expiresAt: now + 3600)
        let reply = try await self.curl([
            "--data-urlencode", "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "--data-urlencode",
            "assertion=\(assertion)", self.addresses.tokenURI,
        ])
        return reply.json?["access_token"]?.string
    }

    /// The arguments of curl for one message that is right.
    func message(accessToken: String, body: String = Sample.message) -> [String] {
        [
            "-H", "authorization: Bearer \(accessToken)", "-H", "content-type: application/json", "-d", body,
            "\(self.addresses.fcm)/v1/projects/p/messages:send",
        ]
    }

    // MARK: - nghttp, which shows every frame

    func nghttp(_ arguments: [String], seconds: Int = 20) async throws -> String {
        try await Tool.run("/usr/bin/nghttp", ["-v", "--no-dep"] + arguments, seconds: seconds).output
    }

    func frames(token: String? = nil, paths: [String]) async throws -> String {
        try Sample.payload.write(toFile: "\(self.directory)/body", atomically: true, encoding: .utf8)
        return try await self.nghttp(
            [
                "-d", "\(self.directory)/body", "-H", "authorization: bearer \(token ?? self.providerToken)", "-H",
                "apns-topic: \(Sample.topic)", "-H", "apns-push-type: alert",
            ] + paths.map { self.addresses.apnsProduction + $0 })
    }
}
