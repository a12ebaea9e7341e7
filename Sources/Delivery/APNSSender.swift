package import APNS
package import HTTPTransport
import Localization
import Locking
package import PushModel

import struct FoundationEssentials.Date

/// Sends alerts to one APNs environment.
package struct APNSSender: ProviderSender {
    private let transport: any HTTPTransport
    private let tokens: ProviderTokenSource
    private let languages: LanguageStore
    private let baseURL: String
    private let topic: String
    private let sound: String?
    /// Which provider token the connections in use have seen: one that has seen two may be refused.
    private let seenGeneration = Locked<Int?>(nil)

    /// - Parameters:
    ///   - baseURL: scheme and host, such as `https://api.push.apple.com`.
    ///   - topic: the app's bundle id.
    ///   - sound: name of the sound; nil or empty for silent banners.
    package init(
        transport: any HTTPTransport, tokens: ProviderTokenSource, languages: LanguageStore, baseURL: String,
        topic: String, sound: String?
    ) {
        self.transport = transport
        self.tokens = tokens
        self.languages = languages
        self.baseURL = baseURL
        self.topic = topic
        self.sound = sound
    }

    package func send(_ deliveries: [Delivery], report: ([SendResult]) -> Void) async {
        let token: ProviderToken
        do {
            token = try self.tokens.token()
        } catch {
            let outcome = SendOutcome.misconfigured(
                reason: "key_cannot_sign", fix: "\(error): check APNS_KEY", scope: .provider)
            report(deliveries.indices.map { SendResult(index: $0, outcome: outcome, status: nil, duration: nil) })
            return
        }
        let isNew = self.seenGeneration.withLock { seen in
            defer { seen = token.generation }
            return seen != nil && seen != token.generation
        }
        if isNew { self.transport.renewConnections() }

        let catalog = self.languages.current
        let requests = deliveries.enumerated().map { index, delivery in
            let text = catalog.render(delivery.notification, kind: delivery.kind, locale: delivery.device.locale)
            return APNSRequest(delivery: delivery, text: text, topic: self.topic, sound: self.sound)
                .httpRequest(id: index, baseURL: self.baseURL, authorization: token.authorization)
        }
        for await exchanges in self.transport.send(requests) {
            let now = Date()
            report(
                exchanges.map { exchange in
                    let outcome = APNSOutcome.read(exchange.result, now: now)
                        .naming(skewOf: exchange.result, now: now)
                    self.react(to: outcome, token)
                    return SendResult(exchange, outcome: outcome)
                })
        }
    }

    /// What an answer asks of connections and token.
    private func react(to outcome: SendOutcome, _ token: ProviderToken) {
        guard case .retry(let retry) = outcome else { return }
        switch retry.renewal {
        case .none: break
        case .connection:
            if retry.reason == "TooManyProviderTokenUpdates" { self.tokens.tooManyUpdates() }
            self.transport.renewConnections()
        case .credential:
            _ = self.tokens.expired(token)
            self.transport.renewConnections()
        }
    }
}

extension SendOutcome {
    /// The clock is what is wrong with most credentials that worked yesterday: say so where the answer tells.
    func naming(skewOf result: Result<HTTPAnswer, HTTPFailure>, now: Date) -> SendOutcome {
        guard case .success(let answer) = result, let finding = ClockSkew.finding(answer, now: now) else { return self }
        switch self {
        case .misconfigured(let reason, let fix, let scope):
            return .misconfigured(reason: reason, fix: "\(finding); \(fix)", scope: scope)
        case .retry(var retry):
            retry.fixIfRepeated = retry.fixIfRepeated.map { "\(finding); \($0)" }
            return .retry(retry)
        default: return self
        }
    }
}

extension SendResult {
    init(_ exchange: HTTPExchange, outcome: SendOutcome) {
        let status: Int? = if case .success(let answer) = exchange.result { answer.status } else { nil }
        self.init(index: exchange.id, outcome: outcome, status: status, duration: exchange.duration)
    }
}
