import APNS
import Delivery
import FCM
import HTTPTransport
import Localization
import PushModel

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// The part of `check` about the providers: a push to a token that belongs to nobody. Both authenticate first, so the
/// refusal of the token proves that key, team, topic and project are good.
enum ProviderCheck {
    typealias Finding = CheckCommand.Finding

    static func findings(_ configuration: Configuration) async -> [Finding] {
        var findings: [Finding] = []
        var isReadable = true
        do {
            if let apns = try configuration.apns() {
                findings.append(.ok("apns key", "EC P-256, key id and team id well formed, topic \(apns.topic)"))
            }
        } catch {
            isReadable = false
            findings.append(.failed("apns key", "\(error)", fix: nil))
        }
        do {
            if let fcm = try configuration.fcm() {
                findings.append(.ok("fcm key", "RSA, project \(fcm.account.projectID)"))
            }
        } catch {
            isReadable = false
            findings.append(.failed("fcm key", "\(error)", fix: nil))
        }
        guard isReadable else { return findings }
        do {
            let providers = try ProviderConnections(configuration)
            if let apns = try configuration.apns() { findings += await Self.apns(apns, providers) }
            if let fcm = try configuration.fcm() { findings += await Self.fcm(fcm, providers) }
            await providers.shutdown()
        } catch {
            findings.append(.failed("providers", "\(error)", fix: nil))
        }
        return findings
    }

    private static func apns(_ apns: Configuration.APNS, _ providers: ProviderConnections) async -> [Finding] {
        guard let tokens = providers.providerTokens else { return [] }
        var findings: [Finding] = []
        for environment in APNSEnvironment.allCases {
            let subject = environment == .production ? "apns" : "apns (dev)"
            guard let transport = providers.apnsTransports[environment] else { continue }
            do {
                let delivery = try Self.delivery(.ios, token: String(repeating: "0", count: 64))
                let text = providers.languages.current
                    .render(delivery.notification, kind: delivery.kind, locale: "en")
                let request = APNSRequest(delivery: delivery, text: text, topic: apns.topic, sound: apns.sound)
                    .httpRequest(
                        id: 0, baseURL: environment == .production ? apns.url : apns.developmentURL,
                        authorization: try tokens.token().authorization)
                guard let exchange = await Self.exchange(request, transport) else { continue }
                let outcome = APNSOutcome.read(exchange.result, now: Date())
                findings.append(Self.finding(subject, outcome))
                findings += Self.skew(subject, exchange.result)
            } catch {
                findings.append(.failed(subject, "\(error)", fix: nil))
            }
        }
        return findings
    }

    private static func fcm(_ fcm: Configuration.FCM, _ providers: ProviderConnections) async -> [Finding] {
        guard let tokens = providers.fcmCredential?.current.tokens, let transport = providers.fcmTransport else {
            return []
        }
        do {
            let token = try await tokens.token()
            let delivery = try Self.delivery(.android, token: "a-token-that-belongs-to-nobody")
            let request = FCMRequest(validating: delivery, project: fcm.account.projectID)
                .httpRequest(id: 0, baseURL: fcm.url, authorization: token.authorization)
            guard let exchange = await Self.exchange(request, transport) else { return [] }
            return [Self.finding("fcm", FCMOutcome.read(exchange.result, now: Date()))]
                + Self.skew("fcm", exchange.result)
        } catch let error as AccessTokenError {
            return [.failed("fcm", "\(error)", fix: nil)]
        } catch {
            return [.failed("fcm", "\(error)", fix: nil)]
        }
    }

    private static func finding(_ subject: String, _ outcome: SendOutcome) -> Finding {
        switch outcome {
        case .accepted, .badDeviceToken, .deviceDead, .rejected(reason: "INVALID_ARGUMENT"):
            .ok(subject, "the credentials are accepted")
        case .misconfigured(let reason, let fix, _):
            .failed(subject, "refuses us with \(reason)", fix: fix)
        case .rejected(let reason):
            .failed(
                subject, "refuses the request with \(reason)", fix: "this is a fault of push-fanout, please report it")
        case .retry(let retry):
            .failed(
                subject, "no usable answer (\(retry.reason))",
                fix: retry.fixIfRepeated ?? "check the network, the address and PUSH_CA_FILE, then try again")
        case .unknown(let reason):
            .failed(subject, "no answer (\(reason))", fix: "check the network and the address, then try again")
        }
    }

    /// Compares this machine's clock with the provider's `date` header.
    private static func skew(_ subject: String, _ result: Result<HTTPAnswer, HTTPFailure>) -> [Finding] {
        guard case .success(let answer) = result, let finding = ClockSkew.finding(answer, now: Date()) else {
            return []
        }
        return [.failed("clock", "\(finding) (\(subject))", fix: "set the clock, and keep it right with NTP")]
    }

    private static func exchange(_ request: HTTPRequest, _ transport: CurlTransport) async -> HTTPExchange? {
        for await exchanges in transport.send([request]) {
            if let first = exchanges.first { return first }
        }
        return nil
    }

    private static func delivery(_ platform: Platform, token: String) throws -> Delivery {
        let now = Date()
        let notification = Notification(
            id: UUID(), accountID: UUID(), kindName: NotificationKind.system.name, title: "push-fanout check",
            createdAt: now)
        return Delivery(
            id: UUID(), notification: notification, kind: .system,
            device: Device(id: UUID(), platform: platform, pushToken: token),
            token: try DeviceToken(stored: token, platform: platform), badge: 0, expiresAt: now.addingTimeInterval(60))
    }
}
