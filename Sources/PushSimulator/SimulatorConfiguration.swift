package import struct FoundationEssentials.Date

/// How a simulator is set up.
package struct SimulatorConfiguration: Sendable {
    package var credentials: SimulatorCredentials
    package var rules = SimulatorRules()
    package var options = Options()

    package struct Options: Sendable {
        /// The first of five ports in a row, in the order of ``SimulatorRole``. Default 0: five that are free.
        package var port = 0
        /// Ports one by one, for a simulator that comes back where an earlier one was; in place of ``port``.
        package var ports: [Int]?
        /// Default nil: a new authority. Give the earlier one's to a simulator that comes back.
        package var certificates: SimulatorCertificates?
        /// Devices that are known from the start. Default none.
        package var devices: [SimulatedDevice] = []
        /// Whether a well-formed token that nobody registered is taken. Default false.
        package var acceptsAnyToken = false
        /// For benchmarks: every push is answered 200, nothing is checked, recorded or shown. Default false.
        package var acceptsAll = false
        /// Default none.
        package var faults = FaultPlan()
        /// How many pushes are kept for `GET /received`. Default 100 000.
        package var receivedCapacity = 100_000
        /// Further connections are closed at once. Default 500.
        package var maxConnections = 500
        /// Whether nghttp2's own limit on resets holds; libcurl 7.88.1 meets it after about 1000 pushes on a
        /// connection. Default false.
        package var limitsResets = false
        /// After how long without a message FCM closes a connection. Default 4 minutes, as observed.
        package var fcmIdleTimeout: Duration = .seconds(240)
        /// At what age FCM closes a connection. Default 1 hour, as observed.
        package var fcmMaxAge: Duration = .seconds(3600)
        /// Called on the server's thread for every push that was recorded. Default: nothing.
        package var onPush: (@Sendable (ReceivedPush) -> Void)?
        /// The wall clock of all checks. Default: the system's.
        package var now: @Sendable () -> Date = { Date() }

        package init() {}
    }

    package init(credentials: SimulatorCredentials) {
        self.credentials = credentials
    }
}
