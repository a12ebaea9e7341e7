/// Where pushes go: one host with one kind of credential. Pauses, windows and connections are per endpoint, so that
/// trouble at one never slows another. The raw values stand in `push.waiting.endpoint` and `push.providers.endpoint`.
package enum ProviderEndpoint: String, CaseIterable, Hashable, Sendable {
    case apnsProduction = "apns:production"
    case apnsDevelopment = "apns:development"
    case fcm

    package init(device: Device) {
        switch device.platform {
        case .android: self = .fcm
        case .ios: self.init(environment: device.apnsEnvironment)
        }
    }

    package init(environment: APNSEnvironment) {
        self = environment == .production ? .apnsProduction : .apnsDevelopment
    }

    package var provider: Provider { self == .fcm ? .fcm : .apns }

    /// Nil for FCM, which has no environments.
    package var environment: APNSEnvironment? {
        switch self {
        case .apnsProduction: .production
        case .apnsDevelopment: .development
        case .fcm: nil
        }
    }
}
