internal import struct FoundationEssentials.Date

extension FaultRule.Answer {
    /// The answer in the shape of `provider`, for a request that was accepted with `acceptance`.
    func simulated(by provider: FaultRule.Provider, insteadOf acceptance: SimulatedAnswer, now: Date) -> SimulatedAnswer
    {
        var answer =
            switch provider {
            case .apns: self.apns(acceptance, now)
            case .fcm: self.fcm()
            case .token: self.token()
            }
        if let retryAfter = self.retryAfter { answer.headers.append(H2Header("retry-after", retryAfter)) }
        guard let body = self.body else { return answer }
        answer.body = Array(body.utf8)
        answer.headers.removeAll { $0.name == "content-type" }
        answer.headers.append(H2Header("content-type", body.hasPrefix("<") ? "text/html" : "application/json"))
        return answer
    }

    private func apns(_ acceptance: SimulatedAnswer, _ now: Date) -> SimulatedAnswer {
        let messageID = acceptance.headers.first { $0.name == "apns-id" }?.value ?? ""
        guard let reason = self.reason else {
            return SimulatedAnswer(status: self.status, headers: [H2Header("apns-id", messageID)])
        }
        let since = self.status == 410 ? Int(now.timeIntervalSince1970 * 1000) : nil
        return APNSValidator.answer(
            APNSRefusal(self.status, reason, timestamp: self.timestamp ?? since), messageID: messageID)
    }

    private func fcm() -> SimulatedAnswer {
        // FCM's own code and the generic status beside it differ (protocol.md B.5).
        let status =
            switch self.reason {
            case "UNREGISTERED": "NOT_FOUND"
            case "SENDER_ID_MISMATCH": "PERMISSION_DENIED"
            case "QUOTA_EXCEEDED": "RESOURCE_EXHAUSTED"
            case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": "UNAUTHENTICATED"
            case let reason?: reason
            case nil: self.status == 503 ? "UNAVAILABLE" : self.status >= 500 ? "INTERNAL" : "UNKNOWN"
            }
        let details = self.reason.map { [FCMRefusal.fcmError($0)] } ?? []
        let message =
            self.status == 503 ? "The service is currently unavailable." : "Injected by the simulator's fault plan."
        return FCMRefusal(self.status, message, status, details: details, reason: self.reason).answer
    }

    private func token() -> SimulatedAnswer {
        guard let reason = self.reason else { return SimulatedAnswer(status: self.status) }
        var answer = TokenEndpointValidator.Refusal(error: reason, description: "Injected by the simulator.").answer
        answer.status = self.status
        return answer
    }
}
