import FCM
package import HTTPTransport
package import PushModel

import struct FoundationEssentials.Date

/// Sends data-only messages to FCM.
package struct FCMSender: ProviderSender {
    private let transport: any HTTPTransport
    private let credential: FCMCredential
    private let baseURL: String

    /// - Parameter baseURL: scheme and host, such as `https://fcm.googleapis.com`.
    package init(transport: any HTTPTransport, credential: FCMCredential, baseURL: String) {
        self.transport = transport
        self.credential = credential
        self.baseURL = baseURL
    }

    package func send(_ deliveries: [Delivery], report: ([SendResult]) -> Void) async {
        let credential = self.credential.current
        let token: AccessToken
        do {
            token = try await credential.tokens.token()
        } catch {
            let outcome = Self.outcome(of: error)
            report(deliveries.indices.map { SendResult(index: $0, outcome: outcome, status: nil, duration: nil) })
            return
        }
        let requests = deliveries.enumerated().map { index, delivery in
            FCMRequest(delivery: delivery, project: credential.project)
                .httpRequest(id: index, baseURL: self.baseURL, authorization: token.authorization)
        }
        var doubtful: [SendResult] = []
        for await exchanges in self.transport.send(requests) {
            var results: [SendResult] = []
            for exchange in exchanges {
                let result = await Self.result(of: exchange, token, credential)
                if case .badDeviceToken = result.outcome { doubtful.append(result) } else { results.append(result) }
            }
            report(results)
        }
        await self.validate(doubtful, deliveries, token, credential, report: report)
    }

    package var condition: SenderCondition {
        SenderCondition(transport: self.transport.statistics, tokenAge: self.credential.current.tokens.age)
    }

    private static func result(
        of exchange: HTTPExchange, _ token: AccessToken, _ credential: FCMCredential.Current
    ) async -> SendResult {
        let now = Date()
        let outcome = FCMOutcome.read(exchange.result, now: now).naming(skewOf: exchange.result, now: now)
        if case .retry(let retry) = outcome, retry.renewal == .credential {
            _ = await credential.tokens.invalidate(token)
        }
        return SendResult(exchange, outcome: outcome, now: now)
    }

    /// Asks FCM about tokens that an answer seemed to name as invalid: with a bare message that is only validated, a
    /// fault of the payload cannot be meant.
    private func validate(
        _ doubtful: [SendResult], _ deliveries: [Delivery], _ token: AccessToken,
        _ credential: FCMCredential.Current, report: ([SendResult]) -> Void
    ) async {
        guard !doubtful.isEmpty else { return }
        let requests = doubtful.enumerated().map { index, result in
            FCMRequest(validating: deliveries[result.index], project: credential.project)
                .httpRequest(id: index, baseURL: self.baseURL, authorization: token.authorization)
        }
        for await exchanges in self.transport.send(requests) {
            var results: [SendResult] = []
            for exchange in exchanges {
                var result = doubtful[exchange.id]
                let validation = await Self.result(of: exchange, token, credential).outcome
                result.outcome = FCMOutcome.afterValidation(validation, of: result.outcome)
                results.append(result)
            }
            report(results)
        }
    }

    private static func outcome(of error: AccessTokenError) -> SendOutcome {
        switch error {
        case .rejected(let code, _, _):
            .misconfigured(reason: "token_endpoint_\(code)", fix: error.fix, scope: .provider)
        case .unavailable:
            .retry(.init(reason: "token_endpoint_unavailable", scope: .provider, countsAsAttempt: false))
        }
    }
}
