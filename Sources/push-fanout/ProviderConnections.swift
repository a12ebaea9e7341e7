import APNS
import Delivery
import FCM
import HTTPTransport
import Localization
import PushModel

/// The configured providers with their connections: what a worker sends through, and what `check` tries.
struct ProviderConnections: Sendable {
    var endpoints: [ProviderEndpoint: Worker.Endpoint] = [:]
    let languages: LanguageStore
    private(set) var apnsTransports: [APNSEnvironment: CurlTransport] = [:]
    private(set) var providerTokens: ProviderTokenSource?
    private(set) var fcmTransport: CurlTransport?
    private(set) var fcmCredential: FCMCredential?
    private var tokenTransport: CurlTransport?
    private var transports: [CurlTransport] = []

    /// Opens nothing yet: connections are made when something is sent.
    init(_ configuration: Configuration) throws(ConfigurationError) {
        self.languages = LanguageStore(try configuration.languages())
        let caFile = try configuration.caFile()
        let window = try configuration.values.integer(.window, in: 1...10_000)
        let connections = try configuration.values.integer(.connections, in: 1...64)
        let requestTimeout = try configuration.values.duration(.requestTimeout, in: .seconds(1)...(.seconds(120)))

        if let apns = try configuration.apns() {
            let tokens = ProviderTokenSource(credentials: apns.credentials)
            self.providerTokens = tokens
            for environment in APNSEnvironment.allCases {
                var settings = CurlTransport.Configuration()
                settings.caFile = caFile
                settings.connections = connections
                settings.window = window
                settings.requestTimeout = requestTimeout
                settings.probesFreshConnections = true
                let transport = CurlTransport(settings)
                self.transports.append(transport)
                self.apnsTransports[environment] = transport
                let sender = APNSSender(
                    transport: transport, tokens: tokens, languages: self.languages,
                    baseURL: environment == .production ? apns.url : apns.developmentURL, topic: apns.topic,
                    sound: apns.sound)
                self.endpoints[ProviderEndpoint(environment: environment)] = Worker.Endpoint(
                    sender: sender, window: window * connections)
            }
        }
        if let fcm = try configuration.fcm() {
            var settings = CurlTransport.Configuration()
            settings.caFile = caFile
            settings.connections = connections
            // FCM closes a connection that has more than 100 streams, is idle for 4 minutes, or is an hour old.
            settings.window = min(window, 100)
            settings.requestTimeout = requestTimeout
            settings.idleLimit = .seconds(200)
            settings.lifetime = .seconds(55 * 60)
            let transport = CurlTransport(settings)
            var tokenSettings = CurlTransport.Configuration()
            tokenSettings.caFile = caFile
            tokenSettings.connections = 1
            let tokenTransport = CurlTransport(tokenSettings)
            let tokens = AccessTokenSource(account: fcm.account, transport: tokenTransport)
            self.transports += [transport, tokenTransport]
            self.fcmTransport = transport
            self.tokenTransport = tokenTransport
            let credential = FCMCredential(tokens: tokens)
            self.fcmCredential = credential
            let sender = FCMSender(transport: transport, credential: credential, baseURL: fcm.url)
            self.endpoints[.fcm] = Worker.Endpoint(sender: sender, window: settings.window * connections)
        }
        guard !self.endpoints.isEmpty else {
            throw ConfigurationError(
                "no provider is configured: set APNS_KEY, APNS_KEY_ID, APNS_TEAM_ID and APNS_TOPIC for APNs, "
                    + "GOOGLE_APPLICATION_CREDENTIALS for FCM, or both")
        }
    }

    /// Reads keys and language files anew. What is on its way goes on with the old ones; what comes after uses new
    /// connections. Nothing changes when anything of it is wrong.
    ///
    /// - Returns: the endpoints whose credentials are others now.
    func reload(_ configuration: Configuration) throws(ConfigurationError) -> [ProviderEndpoint] {
        let languages = try configuration.languages()
        let apns = try configuration.apns()
        let fcm = try configuration.fcm()
        var changed: [ProviderEndpoint] = []
        if let apns, self.providerTokens?.replace(credentials: apns.credentials) == true {
            for transport in self.apnsTransports.values { transport.renewConnections() }
            changed += [.apnsProduction, .apnsDevelopment]
        }
        if let fcm, let fcmCredential, let tokenTransport, fcmCredential.current.tokens.account != fcm.account {
            fcmCredential.replace(tokens: AccessTokenSource(account: fcm.account, transport: tokenTransport))
            changed.append(.fcm)
        }
        self.languages.replace(languages)
        return changed
    }

    /// Closes every connection and ends the threads behind them.
    func shutdown() async {
        for transport in self.transports { await transport.shutdown(grace: .seconds(1)) }
    }
}
