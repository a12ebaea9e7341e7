package import APNS
package import HTTPTransport
import Localization
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

    /// How often a push that waited for a connection while its provider token was replaced gets another.
    private static let tokensPerPush = 3

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
        var open = Array(deliveries.indices)
        for round in 1...Self.tokensPerPush where !open.isEmpty {
            open = await self.send(deliveries, open, mayRepeat: round < Self.tokensPerPush, report: report)
        }
    }

    package var condition: SenderCondition {
        SenderCondition(transport: self.transport.statistics, tokenAge: self.tokens.age)
    }

    /// - Returns: those whose token was replaced before they were sent.
    private func send(
        _ deliveries: [Delivery], _ indices: [Int], mayRepeat: Bool, report: ([SendResult]) -> Void
    ) async -> [Int] {
        let token: ProviderToken
        do {
            token = try self.tokens.token()
        } catch {
            let outcome = SendOutcome.misconfigured(
                reason: "key_cannot_sign", fix: "\(error): check APNS_KEY", scope: .provider)
            report(indices.map { SendResult(index: $0, outcome: outcome, status: nil, duration: nil) })
            return []
        }
        var superseded: [Int] = []
        for await exchanges in self.transport.send(self.requests(deliveries, indices, token)) {
            let now = Date()
            var results: [SendResult] = []
            for exchange in exchanges {
                if mayRepeat, case .failure(.credentialSuperseded) = exchange.result {
                    superseded.append(exchange.id)
                    continue
                }
                let outcome = APNSOutcome.read(exchange.result, now: now).naming(skewOf: exchange.result, now: now)
                self.react(to: outcome, token)
                results.append(SendResult(exchange, outcome: outcome, now: now))
            }
            report(results)
        }
        return superseded
    }

    /// APNs counts changes of token connection by connection, so the transport is told which token is whose.
    private func requests(_ deliveries: [Delivery], _ indices: [Int], _ token: ProviderToken) -> [HTTPRequest] {
        let catalog = self.languages.current
        return indices.map { index in
            let delivery = deliveries[index]
            let text = catalog.render(delivery.notification, kind: delivery.kind, locale: delivery.device.locale)
            var request = APNSRequest(delivery: delivery, text: text, topic: self.topic, sound: self.sound)
                .httpRequest(id: index, baseURL: self.baseURL, authorization: token.authorization)
            request.credential = token.generation
            return request
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
            // A connection that has seen an expired token recovers on no other.
            if self.tokens.expired(token) == .renewed, let next = try? self.tokens.token() {
                self.transport.use(credential: next.generation)
            } else {
                self.transport.renewConnections()
            }
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
    init(_ exchange: HTTPExchange, outcome: SendOutcome, now: Date) {
        self.init(index: exchange.id, outcome: outcome, status: nil, duration: exchange.duration)
        guard case .success(let answer) = exchange.result else { return }
        self.status = answer.status
        guard answer.status != 200 else { return }
        self.retryAfter = answer.headers["retry-after"].flatMap { RetryAfter.parse($0, now: now) }
    }
}
