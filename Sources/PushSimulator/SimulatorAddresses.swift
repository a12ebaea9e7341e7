/// What a port of the simulator stands for. The order is that of the ports, from `--port` up.
package enum SimulatorRole: Int, CaseIterable, Sendable {
    case control, apnsProduction, apnsDevelopment, fcm, token
}

/// Where each part of a running simulator is. Different ports, so that a mixed-up host is seen.
package struct SimulatorAddresses: Equatable, Sendable {
    private let ports: [Int]

    init(ports: [Int]) {
        self.ports = ports
    }

    package func port(of role: SimulatorRole) -> Int { self.ports[role.rawValue] }

    private func url(_ role: SimulatorRole) -> String { "https://127.0.0.1:\(self.port(of: role))" }

    package var control: String { self.url(.control) }
    /// For `APNS_URL`.
    package var apnsProduction: String { self.url(.apnsProduction) }
    /// For `APNS_DEVELOPMENT_URL`.
    package var apnsDevelopment: String { self.url(.apnsDevelopment) }
    /// For `FCM_URL`.
    package var fcm: String { self.url(.fcm) }
    /// For the service account's `token_uri`.
    package var tokenURI: String { self.url(.token) + TokenEndpointValidator.path }
}
