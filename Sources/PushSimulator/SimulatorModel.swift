internal import struct FoundationEssentials.Date

/// All that the simulator knows and decides: requests in, actions out. No I/O, no clock.
struct SimulatorModel {
    private let production: APNSValidator
    private let development: APNSValidator
    private let fcmValidator: FCMValidator
    private let tokenValidator: TokenEndpointValidator
    private let rules: SimulatorRules
    private var connections: [Int: Connection] = [:]
    private var apns = APNSState()
    private var fcm = FCMState()
    private var tokens = AccessTokens()

    var devices: DeviceRegistry
    var received: ReceivedStore
    var faults: FaultPlan
    /// Exchanges at the token endpoint: how many were answered 200, how many otherwise.
    private(set) var tokensIssued = 0
    private(set) var tokensRefused = 0
    /// Pushes that were answered without being looked at.
    var acceptedUnseen = 0

    /// What is remembered of one connection.
    private struct Connection {
        var role: SimulatorRole
        var apns = APNSConnectionState()
        var streamLimit: Int
        /// A fault's limit; it stays until the connection ends.
        var forcedStreamLimit: Int?
        var lastHandled: Int32 = 0
        /// Streams above this were given up by a GOAWAY.
        var lastAllowed = Int32.max
    }

    init(_ configuration: SimulatorConfiguration, addresses: SimulatorAddresses) {
        let rules = configuration.rules, credentials = configuration.credentials, options = configuration.options
        self.rules = rules
        self.production = APNSValidator(environment: .production, keys: credentials.apnsKeys, rules: rules)
        self.development = APNSValidator(environment: .development, keys: credentials.apnsKeys, rules: rules)
        self.fcmValidator = FCMValidator(projectID: credentials.serviceAccount.projectID, rules: rules)
        self.tokenValidator = TokenEndpointValidator(
            account: credentials.serviceAccount, tokenURI: addresses.tokenURI, rules: rules)
        self.devices = DeviceRegistry(options.devices, acceptsAnyToken: options.acceptsAnyToken)
        self.received = ReceivedStore(capacity: options.receivedCapacity)
        self.faults = options.faults
    }

    mutating func opened(connection: Int, role: SimulatorRole, streamLimit: Int) {
        self.connections[connection] = Connection(role: role, streamLimit: streamLimit)
    }

    mutating func closed(connection: Int) { self.connections[connection] = nil }

    /// Decides one request to a provider. `recorded` gets the push, if the request was one and was handled.
    mutating func handle(_ request: H2Request, now: Date, recorded: inout [ReceivedPush]) -> [H2Action] {
        guard var connection = self.connections[request.connection], request.stream <= connection.lastAllowed else {
            return []
        }
        defer { self.connections[request.connection] = connection }
        let rule = self.rule(for: request.request, role: connection.role)
        if let actions = Self.actionsBeforeHandling(rule, request, &connection) { return actions }
        connection.lastHandled = max(connection.lastHandled, request.stream)

        var answer = self.validate(request.request, &connection, now)
        let isAccepted = answer.status == 200
        var fault: String?
        if isAccepted, let rule {
            if let injected = rule.answer {
                answer = injected.simulated(by: rule.provider, insteadOf: answer, now: now)
                connection.apns.note(status: answer.status, reason: answer.reason, now: now)
            }
            fault = rule.effectName
        }
        if connection.role == .fcm || connection.role == .token || rule?.dateOffsetSeconds != nil {
            let date = now.addingTimeInterval(Double(rule?.dateOffsetSeconds ?? 0))
            answer.headers.append(H2Header("date", HTTPDate.text(date)))
        }
        if let push = Self.push(request.request, role: connection.role, answer, fault: fault, now) {
            recorded.append(self.received.add(push))
        } else {
            if answer.status == 200 { self.tokensIssued += 1 } else { self.tokensRefused += 1 }
        }
        return self.actions(request, answer, isAccepted ? rule : nil, &connection)
    }

    // MARK: - Steps

    private mutating func rule(for request: SimulatedRequest, role: SimulatorRole) -> FaultRule? {
        guard !self.faults.isEmpty else { return nil }
        switch role {
        case .control: return nil
        case .token: return self.faults.rule(provider: .token)
        case .apnsProduction, .apnsDevelopment:
            let token = request.path.split(separator: "/").last.map { $0.lowercased() }
            return self.faults.rule(provider: .apns, environment: role.environment, token: token)
        case .fcm:
            guard self.faults.looksAtDevices else { return self.faults.rule(provider: .fcm) }
            let message = OrderedJSON(request.body)?["message"]
            return self.faults.rule(provider: .fcm, token: (message?["token"] ?? message?["fid"])?.string)
        }
    }

    /// What a rule does instead of handling the request; nil: the request is handled.
    private static func actionsBeforeHandling(
        _ rule: FaultRule?, _ request: H2Request, _ connection: inout Connection
    ) -> [H2Action]? {
        if rule?.closeConnection == .beforeHandling { return [request.action(.abort, rule)] }
        guard let goaway = rule?.goaway, goaway.handlesRequest == false else { return nil }
        connection.lastAllowed = connection.lastHandled
        return [request.action(.goaway(goaway.frame(lastStream: connection.lastHandled)), nil)]
    }

    private mutating func validate(
        _ request: SimulatedRequest, _ connection: inout Connection, _ now: Date
    ) -> SimulatedAnswer {
        switch connection.role {
        case .apnsProduction, .apnsDevelopment:
            let validator = connection.role == .apnsProduction ? self.production : self.development
            return validator.answer(
                to: request, connection: &connection.apns, state: &self.apns, devices: self.devices, now: now)
        case .fcm:
            return self.fcmValidator.answer(
                to: request, tokens: self.tokens, state: &self.fcm, devices: self.devices, now: now)
        case .token: return self.tokenValidator.answer(to: request, tokens: &self.tokens, now: now)
        case .control: return SimulatedAnswer(status: 404)
        }
    }

    private static func push(
        _ request: SimulatedRequest, role: SimulatorRole, _ answer: SimulatedAnswer, fault: String?, _ now: Date
    ) -> ReceivedPush? {
        guard role != .token else { return nil }
        return ReceivedPush(
            number: 0, provider: role == .fcm ? .fcm : .apns, environment: role.environment, path: request.path,
            headers: Dictionary(request.headers.map { ($0.name, $0.value) }) { _, last in last },
            body: String(decoding: request.body, as: UTF8.self), status: answer.status, reason: answer.reason,
            fault: fault, warning: answer.warning, at: now)
    }

    private func actions(
        _ request: H2Request, _ answer: SimulatedAnswer, _ rule: FaultRule?, _ connection: inout Connection
    ) -> [H2Action] {
        var actions: [H2Action] = []
        if let forced = rule?.streamLimit { connection.forcedStreamLimit = forced }
        let natural =
            connection.role.environment == nil
            ? connection.streamLimit : connection.apns.streamLimit(punishingErrors: self.rules.punishesErrors)
        let limit = connection.forcedStreamLimit ?? natural
        if limit != connection.streamLimit {
            connection.streamLimit = limit
            actions.append(request.action(.streamLimit(limit), nil))
        }
        // Before the answer: a client that hears the farewell must still wait for what it has sent.
        if let goaway = rule?.goaway {
            connection.lastAllowed = connection.lastHandled
            actions.append(request.action(.goaway(goaway.frame(lastStream: connection.lastHandled)), nil))
        } else if self.rules.punishesErrors, connection.apns.deservesGoaway, connection.lastAllowed == .max {
            connection.lastAllowed = connection.lastHandled
            let debugData = "{\"reason\":\(OrderedJSON.quoted(answer.reason ?? ""))}"
            let goaway = H2Goaway(lastStream: connection.lastHandled, code: 0, debugData: debugData)
            actions.append(request.action(.goaway(goaway), nil))
        }
        let reply = H2Answer(status: answer.status, headers: answer.headers, body: answer.body)
        if rule?.silence == true, rule?.answer == nil { return actions }
        if rule?.closeConnection == .afterHandling {
            actions.append(request.action(.abort, rule))
        } else if let code = rule?.resetStream {
            let first = rule?.resetAfterHeaders == true ? reply : nil
            actions.append(request.action(.reset(UInt32(code), after: first), rule))
        } else {
            actions.append(request.action(.answer(reply), rule))
        }
        return actions
    }
}

extension SimulatorRole {
    /// Of the two APNs hosts.
    var environment: APNSEnvironment? {
        switch self {
        case .apnsProduction: .production
        case .apnsDevelopment: .development
        case .control, .fcm, .token: nil
        }
    }
}

extension H2Request {
    fileprivate func action(_ kind: H2Action.Kind, _ rule: FaultRule?) -> H2Action {
        let delay = rule?.delayMilliseconds.map { Duration.milliseconds($0) }
        return H2Action(connection: self.connection, stream: self.stream, kind: kind, delay: delay)
    }
}

extension FaultRule {
    /// The word for the record.
    fileprivate var effectName: String? {
        if self.answer != nil { return "answer" }
        if self.silence == true { return "silence" }
        if self.resetStream != nil { return "reset" }
        if self.closeConnection != nil { return "close" }
        if self.goaway != nil { return "goaway" }
        return self.delayMilliseconds == nil ? nil : "delay"
    }
}

extension FaultRule.Goaway {
    fileprivate func frame(lastStream: Int32) -> H2Goaway {
        let debugData = self.debugData ?? self.reason.map { "{\"reason\":\(OrderedJSON.quoted($0))}" } ?? ""
        return H2Goaway(lastStream: lastStream, code: UInt32(clamping: self.code ?? 0), debugData: debugData)
    }
}
