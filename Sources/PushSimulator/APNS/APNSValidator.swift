internal import JSONWebToken

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// Answers one push request as APNs would: the checks of `protocol.md` F.2, in that order.
package struct APNSValidator: Sendable {
    package let environment: APNSEnvironment
    package let keys: [APNSKey]
    package let rules: SimulatorRules

    package init(environment: APNSEnvironment, keys: [APNSKey], rules: SimulatorRules = SimulatorRules()) {
        self.environment = environment
        self.keys = keys
        self.rules = rules
    }

    package func answer(
        to request: SimulatedRequest, connection: inout APNSConnectionState, state: inout APNSState,
        devices: DeviceRegistry, now: Date
    ) -> SimulatedAnswer {
        let given = request.header("apns-id")
        let messageID = given.flatMap { Self.isCanonicalUUID($0) ? $0 : nil } ?? UUID().uuidString
        var answer: SimulatedAnswer
        do throws(APNSRefusal) {
            let warning = try self.check(request, &connection, &state, devices, now)
            answer = SimulatedAnswer(status: 200, headers: [H2Header("apns-id", messageID)], warning: warning)
            if self.environment == .development {
                answer.headers.append(H2Header("apns-unique-id", UUID().uuidString.lowercased()))
            }
        } catch {
            answer = Self.answer(error, messageID: messageID)
        }
        connection.note(status: answer.status, reason: answer.reason, now: now)
        return answer
    }

    static func answer(_ refusal: APNSRefusal, messageID: String) -> SimulatedAnswer {
        SimulatedAnswer(
            status: refusal.status, reason: refusal.reason,
            headers: [H2Header("apns-id", messageID), H2Header("content-type", "application/json")],
            body: refusal.body)
    }

    /// The numbers are the rows of F.2. Returns a warning, for what is taken but surely wrong.
    private func check(
        _ request: SimulatedRequest, _ connection: inout APNSConnectionState, _ state: inout APNSState,
        _ devices: DeviceRegistry, _ now: Date
    ) throws(APNSRefusal) -> String? {
        // F.1 row 4: the real answer is not known, so it is one that nobody takes for a word of Apple's.
        guard !request.headersTooLarge else {
            throw APNSRefusal(431, SimulatedAnswer.ownReasonPrefix + "more than 8000 bytes of headers")
        }
        guard request.method == "POST" else { throw APNSRefusal(405, "MethodNotAllowed") }  // 1
        guard request.path.hasPrefix("/3/device/") else { throw APNSRefusal(404, "BadPath") }  // 2
        let deviceToken = String(request.path.dropFirst("/3/device/".count))
        guard !deviceToken.isEmpty else { throw APNSRefusal(400, "MissingDeviceToken") }  // 3
        let names = request.headers.map(\.name)
        guard Set(names).count == names.count else { throw APNSRefusal(400, "DuplicateHeaders") }  // 4
        let key = try self.authenticate(request, &connection, &state, now)  // 5 to 12
        if let id = request.header("apns-id"), !Self.isCanonicalUUID(id) {
            throw APNSRefusal(400, "BadMessageId")  // 13
        }
        let (pushType, topic) = try self.topic(request, key)  // 14 to 17
        let warning = try self.delivery(request, pushType)  // 18 to 20
        guard request.bodyCount > 0 else { throw APNSRefusal(400, "PayloadEmpty") }  // 21
        guard request.bodyCount <= pushType.maxPayloadBytes, request.header("content-encoding") == nil else {
            throw APNSRefusal(413, "PayloadTooLarge")  // 22
        }
        if self.rules.isStrict, let fault = APNSPayloadRules.fault(in: request.body, pushType: pushType) {
            throw .own(fault)  // 23, 24
        }
        try self.device(deviceToken, topic: topic, devices, &state, now)  // 25 to 28
        return warning
    }

    // MARK: - Who is asking

    private func authenticate(
        _ request: SimulatedRequest, _ connection: inout APNSConnectionState, _ state: inout APNSState, _ now: Date
    ) throws(APNSRefusal) -> APNSKey {
        guard let text = request.bearerToken else { throw APNSRefusal(403, "MissingProviderToken") }  // 5
        // F.1 row 10: once expired, always expired, on this connection.
        guard !connection.hasSeenExpiredToken else { throw APNSRefusal(403, "ExpiredProviderToken") }
        let token = try self.verified(text, &state)  // 6
        let second = Int64(now.timeIntervalSince1970)
        guard token.issuedAt >= second - 3600 else { throw APNSRefusal(403, "ExpiredProviderToken") }  // 7
        guard token.issuedAt <= second + Int64(self.rules.providerTokenSkewSeconds) else {
            throw APNSRefusal(403, "InvalidProviderToken")  // 8
        }
        guard token.key.environments.contains(self.environment) else {
            throw APNSRefusal(403, self.rules.badEnvironmentReason)  // 9
        }
        guard var binding = connection.binding else {
            connection.binding = .init(
                teamID: token.key.teamID, relation: token.key.relation, token: text, tokenSince: now)
            return token.key
        }
        guard binding.teamID == token.key.teamID else { throw APNSRefusal(403, "InvalidProviderToken") }  // 10
        guard binding.relation == token.key.relation else { throw APNSRefusal(403, "UnrelatedKeyIdInToken") }  // 11
        if let end = connection.churnedUntil {
            guard now >= end else { throw APNSRefusal(429, "TooManyProviderTokenUpdates") }
            connection.churnedUntil = nil
        }
        if text != binding.token {
            let end = binding.tokenSince.addingTimeInterval(APNSConnectionState.shortestTokenLife)
            guard now >= end else {
                connection.churnedUntil = end
                throw APNSRefusal(429, "TooManyProviderTokenUpdates")  // 12
            }
            binding.token = text
            binding.tokenSince = now
            connection.binding = binding
        }
        return token.key
    }

    /// Row 6: three parts, ES256, a key we know, its team, a raw signature that holds, `iat` in seconds.
    private func verified(_ text: String, _ state: inout APNSState) throws(APNSRefusal) -> APNSState.ProviderToken {
        if let token = state.verified[text] { return token }
        let refusal = APNSRefusal(403, "InvalidProviderToken")
        let token: JSONWebToken
        do { token = try JSONWebToken(compact: text) } catch { throw refusal }
        guard let key = self.keys.first(where: { $0.keyID == token.keyID }), token.issuer == key.teamID,
            token.verifyES256(with: key.publicKey), case .seconds(let issuedAt) = token.issuedAt
        else { throw refusal }
        let verified = APNSState.ProviderToken(key: key, issuedAt: issuedAt)
        if state.verified.count >= APNSState.maxVerified { state.verified.removeAll() }
        state.verified[text] = verified
        return verified
    }

    // MARK: - What is asked

    private func topic(_ request: SimulatedRequest, _ key: APNSKey) throws(APNSRefusal) -> (APNSPushType, String) {
        guard let topic = request.header("apns-topic"), !topic.isEmpty else {
            throw APNSRefusal(400, "MissingTopic")  // 14
        }
        // Without the header Apple takes an alert; a name nobody knows is row 17's, after the topic.
        let name = request.header("apns-push-type") ?? "alert"
        let pushType = APNSPushType(rawValue: name)
        let isWellFormed = topic.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
        }
        guard isWellFormed, !topic.hasPrefix("."), !topic.hasSuffix(".") else {
            throw APNSRefusal(400, "BadTopic")  // 15
        }
        guard let pushType else {
            guard key.topics.contains(where: topic.hasPrefix) else { throw APNSRefusal(400, "TopicDisallowed") }
            throw APNSRefusal(400, "InvalidPushType")  // 17
        }
        guard let bundleID = pushType.bundleID(of: topic) else { throw APNSRefusal(400, "BadTopic") }  // 15
        guard key.topics.contains(bundleID) else { throw APNSRefusal(400, "TopicDisallowed") }  // 16
        return (pushType, bundleID)
    }

    private func delivery(_ request: SimulatedRequest, _ pushType: APNSPushType) throws(APNSRefusal) -> String? {
        if let priority = request.header("apns-priority") {
            guard ["1", "5", "10"].contains(priority) else { throw APNSRefusal(400, "BadPriority") }  // 18
        }
        if pushType == .background, request.header("apns-priority") != "5" { throw APNSRefusal(400, "BadPriority") }
        var warning: String?
        if let text = request.header("apns-expiration") {
            guard let seconds = Int(text), seconds >= 0, !text.hasPrefix("+") else {
                throw APNSRefusal(400, "BadExpirationDate")  // 19
            }
            // As seconds this is the year 5138: it was milliseconds.
            if seconds >= 100_000_000_000 { warning = "apns-expiration looks like milliseconds" }
        }
        if let collapseID = request.header("apns-collapse-id") {
            guard (1...64).contains(collapseID.utf8.count) else { throw APNSRefusal(400, "BadCollapseId") }  // 20
        }
        return warning
    }

    // MARK: - For whom

    private func device(
        _ token: String, topic: String, _ devices: DeviceRegistry, _ state: inout APNSState, _ now: Date
    ) throws(APNSRefusal) {
        guard token.utf8.allSatisfy(Self.isHexadecimal), token.utf8.count.isMultiple(of: 2),
            let device = devices.device(apns: token.lowercased(), in: self.environment)
        else { throw APNSRefusal(400, "BadDeviceToken") }  // 25
        guard device.topic ?? topic == topic, device.state != .otherTopic else {
            throw APNSRefusal(400, "DeviceTokenNotForTopic")  // 26
        }
        let timestamp = device.timestamp ?? Int(now.timeIntervalSince1970 * 1000)
        switch device.state {
        case .unregistered: throw APNSRefusal(410, "Unregistered", timestamp: timestamp)  // 27
        case .expired: throw APNSRefusal(410, "ExpiredToken", timestamp: timestamp)
        case .active, .otherTopic, .senderMismatch: break
        }
        let second = Int(now.timeIntervalSince1970)
        guard state.rates.admit(device.token, limit: self.rules.pushesPerDevicePerMinute, atSecond: second) else {
            throw APNSRefusal(429, "TooManyRequests")  // 28
        }
    }

    /// 8-4-4-4-12, as APNs wants it; either case. By hand: `UUID(uuidString:)` goes through `sscanf`.
    static func isCanonicalUUID(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        for (index, byte) in text.utf8.enumerated() {
            switch index {
            case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
            default: guard Self.isHexadecimal(byte) else { return false }
            }
        }
        return true
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
    }
}
