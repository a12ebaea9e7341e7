package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// What FCM remembers between messages.
package struct FCMState: Sendable {
    var rates = MinuteRates()

    package init() {}
}

/// Answers one message as FCM would: the checks of `protocol.md` F.4, in that order.
package struct FCMValidator: Sendable {
    package let projectID: String
    package let rules: SimulatorRules

    private static let maxBytes = 4096
    private static let maxSeconds = 2_419_200.0

    package init(projectID: String, rules: SimulatorRules = SimulatorRules()) {
        self.projectID = projectID
        self.rules = rules
    }

    package func answer(
        to request: SimulatedRequest, tokens: AccessTokens, state: inout FCMState, devices: DeviceRegistry, now: Date
    ) -> SimulatedAnswer {
        do throws(FCMRefusal) {
            let name = try self.check(request, tokens, &state, devices, now)
            let body: OrderedJSON = ["name": .string("projects/\(self.projectID)/messages/\(name)")]
            return SimulatedAnswer(
                status: 200, headers: [H2Header("content-type", "application/json; charset=UTF-8")],
                body: Array(body.text.utf8))
        } catch {
            return error.answer
        }
    }

    /// The numbers are the rows of F.4. Returns the message's name.
    private func check(
        _ request: SimulatedRequest, _ tokens: AccessTokens, _ state: inout FCMState, _ devices: DeviceRegistry,
        _ now: Date
    ) throws(FCMRefusal) -> String {
        guard !request.headersTooLarge else { throw .own("more than 8000 bytes of headers") }
        guard request.authority != nil else {
            throw FCMRefusal(400, "Request has no :authority", "INVALID_ARGUMENT")  // 1
        }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard request.method == "POST", parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "projects",
            !parts[3].isEmpty, parts[4] == "messages:send"
        else { throw .notFoundPage(request.path) }  // 2
        guard let token = request.bearerToken else { throw .noCredential }  // 3
        switch tokens.standing(token, now: now) {
        case .unknown: throw .badCredential(isExpired: false)  // 4
        case .expired: throw .badCredential(isExpired: true)  // 5
        case .valid: break
        }
        guard parts[3] == self.projectID else { throw .noPermission(String(parts[3])) }  // 6
        guard request.bodyCount == request.body.count else { throw .invalid("Android message is too big") }
        let message = try FCMMessage(request.body)  // 7, 8
        try self.checkDelivery(message)  // 9, 10
        let target = try Self.target(message)  // 11, 12
        try self.checkData(message)  // 13, 14
        // A validation asks about the address alone.
        if self.rules.isStrict, !message.validateOnly, let fault = Self.productFault(message) { throw .own(fault) }
        try self.checkDevice(target, message, devices)  // 15 to 18
        try self.checkRates(target.value, &state, now)  // 19
        if message.validateOnly { return "fake_message_id" }  // 20
        let microseconds = Int(now.timeIntervalSince1970 * 1_000_000)
        return "0:\(microseconds)%\(UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(16))"  // 21
    }

    private func checkDelivery(_ message: FCMMessage) throws(FCMRefusal) {
        if let ttl = message.ttl {
            let text = ttl.string ?? ""
            let seconds = Double(text.dropLast())
            let isPlain = text.dropLast().utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            guard text.hasSuffix("s"), isPlain, let seconds, (0...Self.maxSeconds).contains(seconds) else {
                throw .invalid(
                    "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), \(ttl.text)",
                    field: "message.android.ttl")
            }
        }
        if let priority = message.priority, !["NORMAL", "HIGH", "normal", "high"].contains(priority) {
            throw .invalid(
                "Invalid value at 'message.android.priority' "
                    + "(type.googleapis.com/google.firebase.fcm.v1.AndroidMessagePriority), \(OrderedJSON.quoted(priority))",
                field: "message.android.priority")
        }
    }

    private static func target(_ message: FCMMessage) throws(FCMRefusal) -> (name: String, value: String) {
        let targets = message.targets.filter { !$0.value.isEmpty }
        guard let target = targets.first else {
            throw .invalid("Recipient of the message is not set.", field: "message", isFCM: true)
        }
        guard targets.count == 1 else {
            throw .invalid("Invalid value (oneof), oneof field 'target' is already set.", field: "message")
        }
        return target
    }

    private func checkData(_ message: FCMMessage) throws(FCMRefusal) {
        let reserved = message.data.first { entry in
            ["from", "message_type"].contains(entry.name) || entry.name.hasPrefix("google")
                || entry.name.hasPrefix("gcm")
        }
        if let reserved { throw .invalid("Invalid data payload key: \(reserved.name)", isFCM: true) }
        let bytes = message.data.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= Self.maxBytes else { throw .invalid("Request contains an invalid argument.") }
    }

    /// What the product must never send, though FCM would take it: the phone makes the text itself, from two keys.
    private static func productFault(_ message: FCMMessage) -> String? {
        if message.hasNotification { return "a notification object" }
        let names = message.data.map(\.name).sorted()
        if names != ["id", "kind"] { return "data keys \(names.joined(separator: ", ")) instead of id, kind" }
        if message.priority == nil { return "no android.priority" }
        if message.ttl == nil { return "no android.ttl" }
        return nil
    }

    private func checkDevice(_ target: (name: String, value: String), _ message: FCMMessage, _ devices: DeviceRegistry)
        throws(FCMRefusal)
    {
        // Topics and conditions have no device to look up.
        guard let kind = SimulatedDevice.Target(rawValue: target.name) else { return }
        guard Self.isWellFormed(target.value) else {
            throw .invalidToken(olderWords: self.rules.usesOlderInvalidTokenWords)  // 15
        }
        let device = devices.device(fcm: target.value, target: kind)
        guard device?.state != .senderMismatch else { throw .senderMismatch }  // 16
        guard let device, device.state == .active else { throw .unregistered }  // 17
        if let restricted = message.restrictedPackage, let package = device.package, restricted != package {
            throw .invalid("The package name in the message does not match.", isFCM: true)  // 18
        }
    }

    /// The characters of registration tokens and installation IDs; no length is promised.
    private static func isWellFormed(_ address: String) -> Bool {
        address.utf8.count <= 4096
            && address.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || [UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
            }
    }

    private func checkRates(_ address: String, _ state: inout FCMState, _ now: Date) throws(FCMRefusal) {
        let second = Int(now.timeIntervalSince1970)
        guard state.rates.admit("project", limit: self.rules.messagesPerProjectPerMinute, atSecond: second) else {
            throw .quota("project:\(self.projectID)", retryAfter: "60")
        }
        guard state.rates.admit("device " + address, limit: self.rules.pushesPerDevicePerMinute, atSecond: second)
        else {
            throw .quota("device")
        }
    }
}
