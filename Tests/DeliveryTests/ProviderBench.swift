import APNS
import Cryptography
import Delivery
import FCM
import FoundationEssentials
import HTTPTransport
import JSONWebToken
import Localization
import PushModel
import PushSimulator
import TestSupport
import Testing

/// The two senders against the simulator, over real connections: all of the worker but its database.
struct ProviderBench: Sendable {
    let simulator: PushSimulator
    private let directory: String
    private let languages: LanguageStore

    private static let credentials = Result { try SimulatorCredentials.generate() }

    /// Runs `body` against a simulator of its own.
    static func run(
        _ change: (inout SimulatorConfiguration) -> Void = { _ in },
        _ body: (ProviderBench) async throws -> Void
    ) async throws {
        var configuration = SimulatorConfiguration(credentials: try Self.credentials.get())
        change(&configuration)
        let simulator = try await PushSimulator.start(configuration)
        let directory = FileManager.default.temporaryDirectory.path + "/bench-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        do {
            try simulator.writeDirectory(directory)
            let templates = Fixtures.url("").deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "templates").path
            let languages = LanguageStore(try LanguageCatalog.load(directory: templates))
            try await body(ProviderBench(simulator: simulator, directory: directory, languages: languages))
        } catch {
            await simulator.stop()
            throw error
        }
        await simulator.stop()
    }

    // MARK: - Senders

    /// As the worker sets one up for APNs, but for a shorter time-out.
    func apnsTransport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) -> CurlTransport {
        self.transport {
            $0.probesFreshConnections = true
            change(&$0)
        }
    }

    /// As the worker sets one up for FCM, but for a shorter time-out.
    func fcmTransport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) -> CurlTransport {
        self.transport {
            $0.window = 100
            change(&$0)
        }
    }

    private func transport(_ change: (inout CurlTransport.Configuration) -> Void) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.caFile = self.directory + "/ca.pem"
        configuration.requestTimeout = .seconds(10)
        change(&configuration)
        return CurlTransport(configuration)
    }

    func providerTokens(time: TimeSource = .system) throws -> ProviderTokenSource {
        let key = try #require(self.simulator.credentials.apnsKeys.first)
        return ProviderTokenSource(
            credentials: try APNSCredentials(
                key: self.simulator.credentials.apnsPrivateKey, keyID: key.keyID, teamID: key.teamID), time: time)
    }

    func apns(
        _ transport: CurlTransport, tokens: ProviderTokenSource? = nil,
        environment: PushModel.APNSEnvironment = .production
    ) throws -> APNSSender {
        let addresses = self.simulator.addresses
        return APNSSender(
            transport: transport, tokens: try tokens ?? self.providerTokens(), languages: self.languages,
            baseURL: environment == .production ? addresses.apnsProduction : addresses.apnsDevelopment,
            topic: SimulatorCredentials.defaultTopic, sound: "default")
    }

    func fcm(_ transport: CurlTransport) throws -> FCMSender {
        let json = try self.simulator.credentials.serviceAccountJSON(tokenURI: self.simulator.addresses.tokenURI)
        let account = try FCM.ServiceAccount(json: Array(json.utf8))
        let tokens = AccessTokenSource(account: account, transport: self.transport { $0.connections = 1 })
        return FCMSender(
            transport: transport, credential: FCMCredential(tokens: tokens),
            baseURL: self.simulator.addresses.fcm)
    }

    // MARK: - What is sent

    /// Deliveries to so many phones, each known to the simulator.
    func deliveries(
        _ count: Int, _ platform: Platform = .ios, environment: PushModel.APNSEnvironment = .production,
        state: SimulatedDevice.State = .active
    ) throws -> [Delivery] {
        let tokens = (0..<count).map { _ in
            let text = (UUID().uuidString + UUID().uuidString).filter { $0 != "-" }.lowercased()
            return platform == .ios ? text : "android:" + text
        }
        self.simulator.register(
            tokens.map { token in
                SimulatedDevice(
                    platform: platform == .ios ? .ios : .android, token: token,
                    environment: environment == .production ? .production : .development, state: state)
            })
        return try tokens.map { try Self.delivery(token: $0, platform, environment) }
    }

    static func delivery(
        token: String, _ platform: Platform, _ environment: PushModel.APNSEnvironment = .production
    ) throws -> Delivery {
        let device = Device(id: UUID(), platform: platform, pushToken: token, apnsEnvironment: environment)
        let notification = Notification(
            id: UUID(), accountID: UUID(), kindName: "invitation_received", actorName: "Anna", createdAt: Date())
        return Delivery(
            id: UUID(), notification: notification, kind: .invitationReceived, device: device,
            token: try DeviceToken(stored: token, platform: platform), badge: 1, expiresAt: Date() + 86_400)
    }

    // MARK: - What came of it

    /// Whatever the simulator accepted twice was sent again because what became of it was not known.
    func expectDuplicatesExplained(by delivered: Delivered, sourceLocation: SourceLocation = #_sourceLocation) {
        for (identity, times) in self.simulator.counts().duplicates {
            let unknown = delivered.unknown[identity] ?? 0
            #expect(times - 1 <= unknown, "\(identity) was accepted \(times) times", sourceLocation: sourceLocation)
        }
    }

    /// The different values of `authorization` that arrived.
    var authorizations: Set<String> { Set(self.simulator.received().compactMap { $0.headers["authorization"] }) }
}

/// What it took until deliveries were accepted.
struct Delivered: Sendable {
    var accepted = 0
    var firstRound: [SendOutcome] = []
    /// How often it was not known what became of a push, by what the phone knows it by.
    var unknown: [String: Int] = [:]
    /// Outcomes that are neither accepted nor to be tried again.
    var others: [SendOutcome] = []
}

extension ProviderSender {
    /// One try of each; checks that each is reported exactly once.
    func results(of deliveries: [Delivery]) async -> [SendResult] {
        var results: [Int: SendResult] = [:]
        await self.send(deliveries) { reported in
            for result in reported { #expect(results.updateValue(result, forKey: result.index) == nil) }
        }
        #expect(results.count == deliveries.count)
        return deliveries.indices.compactMap { results[$0] }
    }

    func outcomes(of deliveries: [Delivery]) async -> [SendOutcome] {
        await self.results(of: deliveries).map(\.outcome)
    }

    /// Tries again at once, as the queue does after its back-off, what asks for it.
    func deliverAll(_ deliveries: [Delivery], rounds: Int = 8) async -> Delivered {
        var delivered = Delivered()
        var open = deliveries
        for round in 0..<rounds where !open.isEmpty {
            let outcomes = await self.outcomes(of: open)
            if round == 0 { delivered.firstRound = outcomes }
            var again: [Delivery] = []
            for (delivery, outcome) in zip(open, outcomes) {
                switch outcome {
                case .accepted: delivered.accepted += 1
                case .unknown:
                    delivered.unknown[delivery.identity, default: 0] += 1
                    again.append(delivery)
                case .retry: again.append(delivery)
                default: delivered.others.append(outcome)
                }
            }
            open = again
        }
        return delivered
    }
}

extension Delivery {
    /// As ``ReceivedPush/identity`` has it.
    var identity: String {
        self.device.platform == .ios
            ? self.id.uuidString.lowercased() : "\(self.token.text) \(self.notification.id.uuidString.lowercased())"
    }
}

extension [SendOutcome] {
    var accepted: Int { self.count { $0.name == "accepted" } }
    /// The words for what was not accepted, each once.
    var words: Set<String> { Set(self.filter { $0.name != "accepted" }.map { "\($0.name) \($0.reason ?? "")" }) }
}
