/// A device the simulator knows, as `POST /devices` takes it.
package struct SimulatedDevice: Codable, Equatable, Sendable {
    package enum Platform: String, Codable, Sendable {
        case ios, android
    }

    /// What the provider says of the device's token.
    package enum State: String, Codable, CaseIterable, Sendable {
        case active
        /// The app is gone from the device: APNs 410 `Unregistered`, FCM 404 `UNREGISTERED`.
        case unregistered
        /// APNs 410 `ExpiredToken`; FCM as ``unregistered``.
        case expired
        /// APNs 400 `DeviceTokenNotForTopic`, whatever the topic.
        case otherTopic = "other_topic"
        /// FCM 403 `SENDER_ID_MISMATCH`.
        case senderMismatch = "sender_mismatch"
    }

    package enum Target: String, Codable, Sendable {
        case token, fid
    }

    package var platform: Platform
    package var token: String
    /// iOS: the one host that knows the token.
    package var environment: APNSEnvironment
    /// iOS: the app the token belongs to; nil: any of the team's.
    package var topic: String?
    /// Android: what kind of address ``token`` is.
    package var target: Target
    /// Android: the app's package name; nil: a message that names one is not refused for it.
    package var package: String?
    package var state: State
    /// For the states with APNs 410: since when, in milliseconds since 1970; nil: since now.
    package var timestamp: Int?

    package init(
        platform: Platform, token: String, environment: APNSEnvironment = .production, topic: String? = nil,
        target: Target = .token, package: String? = nil, state: State = .active, timestamp: Int? = nil
    ) {
        self.platform = platform
        self.token = platform == .ios ? token.lowercased() : token
        self.environment = environment
        self.topic = topic
        self.target = target
        self.package = package
        self.state = state
        self.timestamp = timestamp
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            platform: try container.decode(Platform.self, forKey: .platform),
            token: try container.decode(String.self, forKey: .token),
            environment: try container.decodeIfPresent(APNSEnvironment.self, forKey: .environment) ?? .production,
            topic: try container.decodeIfPresent(String.self, forKey: .topic),
            target: try container.decodeIfPresent(Target.self, forKey: .target) ?? .token,
            package: try container.decodeIfPresent(String.self, forKey: .package),
            state: try container.decodeIfPresent(State.self, forKey: .state) ?? .active,
            timestamp: try container.decodeIfPresent(Int.self, forKey: .timestamp))
    }
}

/// The two hosts of APNs.
package enum APNSEnvironment: String, Codable, CaseIterable, Sendable {
    case production, development
}

/// The devices the two providers know.
package struct DeviceRegistry: Sendable {
    /// Whether a well-formed token that nobody registered is taken as an active device's.
    package var acceptsAnyToken: Bool
    private var ios: [APNSEnvironment: [String: SimulatedDevice]] = [:]
    private var android: [SimulatedDevice.Target: [String: SimulatedDevice]] = [:]

    package init(_ devices: [SimulatedDevice] = [], acceptsAnyToken: Bool = false) {
        self.acceptsAnyToken = acceptsAnyToken
        self.register(devices)
    }

    package var count: Int {
        self.ios.values.reduce(0) { $0 + $1.count } + self.android.values.reduce(0) { $0 + $1.count }
    }

    /// Adds devices; one with the same address replaces the earlier one.
    package mutating func register(_ devices: [SimulatedDevice]) {
        for device in devices {
            switch device.platform {
            case .ios: self.ios[device.environment, default: [:]][device.token] = device
            case .android: self.android[device.target, default: [:]][device.token] = device
            }
        }
    }

    package mutating func removeAll() {
        self.ios = [:]
        self.android = [:]
    }

    /// The device behind an APNs token, in lower case, on one host.
    package func device(apns token: String, in environment: APNSEnvironment) -> SimulatedDevice? {
        if let device = self.ios[environment]?[token] { return device }
        // A token somebody did register, for the other host, stays unknown here even when any token will do.
        let isElsewhere = APNSEnvironment.allCases.contains { self.ios[$0]?[token] != nil }
        guard self.acceptsAnyToken, !isElsewhere else { return nil }
        return SimulatedDevice(platform: .ios, token: token, environment: environment)
    }

    /// The device behind an FCM address.
    package func device(fcm address: String, target: SimulatedDevice.Target) -> SimulatedDevice? {
        if let device = self.android[target]?[address] { return device }
        let isElsewhere = self.android.values.contains { $0[address] != nil }
        guard self.acceptsAnyToken, !isElsewhere else { return nil }
        return SimulatedDevice(platform: .android, token: address, target: target)
    }
}
