/// APNs (both hosts), FCM and Google's token endpoint on loopback: TLS and HTTP/2, strict, with faults on demand.
///
/// Stops when ``stop()`` is called or nobody holds it any more.
package final class PushSimulator: Sendable {
    package let addresses: SimulatorAddresses
    package let credentials: SimulatorCredentials
    /// Reuse them, with ``ports``, for a simulator that shall come back after this one.
    package let certificates: SimulatorCertificates
    private let server: H2Server
    private let core: SimulatorCore

    /// Starts to serve; when this returns, connections are taken.
    ///
    /// - Throws: `ListenError` for a port in use, `OpenSSLError`, `ServerStartError`.
    package static func start(_ configuration: SimulatorConfiguration) async throws -> PushSimulator {
        try PushSimulator(configuration)
    }

    private init(_ configuration: SimulatorConfiguration) throws {
        let options = configuration.options
        let certificates = try options.certificates ?? SimulatorCertificates()
        let asked =
            options.ports
            ?? SimulatorRole.allCases.map { options.port == 0 ? 0 : options.port + $0.rawValue }
        // Listening comes first: the addresses are part of what is checked (`aud` names the token endpoint).
        let listeners = try H2Server.listen(ports: asked)
        let addresses = SimulatorAddresses(ports: listeners.map(\.port))
        self.certificates = certificates
        self.credentials = configuration.credentials
        self.addresses = addresses
        self.core = SimulatorCore(configuration, addresses: addresses)
        self.server = try H2Server.start(
            listeners: listeners, certificates: certificates, handler: self.core,
            maxConnections: options.maxConnections)
    }

    /// The ports in the order of ``SimulatorRole``.
    package var ports: [Int] { self.server.ports }
    /// What a client must trust, as PEM text.
    package var authorityPEM: String { self.certificates.authorityPEM }

    /// Writes credentials, authority and `environment` into a directory, which is made if it is not there.
    ///
    /// - Throws: `SimulatorDirectory.FileError`, or `KeyError` from OpenSSL.
    package func writeDirectory(_ path: String) throws {
        try SimulatorDirectory(path: path)
            .write(credentials: self.credentials, addresses: self.addresses, authorityPEM: self.authorityPEM)
    }

    // MARK: - What came in

    /// The pushes that are kept, oldest first.
    package func received() -> [ReceivedPush] { self.core.withModel { $0.received.all() } }

    package func counts() -> ReceivedCounts { self.core.withModel { $0.received.counts } }

    /// Exchanges at the token endpoint since the start.
    package func tokenExchanges() -> (issued: Int, refused: Int) {
        self.core.withModel { ($0.tokensIssued, $0.tokensRefused) }
    }

    /// Pushes answered under `acceptsAll`, which are not recorded.
    package func acceptedUnseen() -> Int { self.core.withModel { $0.acceptedUnseen } }

    /// Forgets the pushes; their numbers go on.
    package func clearReceived() { self.core.withModel { $0.received.clear() } }

    /// Waits until `count` pushes came since the last ``clearReceived()``, whatever was answered; gives those kept.
    ///
    /// - Throws: ``ReceiveTimeout``, or `CancellationError`.
    @discardableResult
    package func waitForReceived(count: Int, within limit: Duration) async throws -> [ReceivedPush] {
        try await self.core.waitForReceived(count: count, within: limit)
        return self.received()
    }

    // MARK: - What it knows and does

    package func register(_ devices: [SimulatedDevice]) { self.core.withModel { $0.devices.register(devices) } }

    package func removeDevices() { self.core.withModel { $0.devices.removeAll() } }

    /// Replaces the fault plan; an empty one ends all faults.
    package func setFaults(_ plan: FaultPlan) { self.core.withModel { $0.faults = plan } }

    /// Ends every open connection with a TCP reset.
    package func abortConnections() { self.server.post(.abortAll) }

    /// GOAWAY on every open connection, as APNs says it: `{"reason":"Shutdown"}`.
    package func sendGoaway(reason: String = "Shutdown") {
        self.server.post(.goawayAll(code: 0, debugData: "{\"reason\":\(OrderedJSON.quoted(reason))}"))
    }

    /// GOAWAY everywhere, then everything is closed. May be called more than once.
    package func stop() async { await self.server.stop() }
}
