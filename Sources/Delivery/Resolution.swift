package import DeliveryQueue
package import Fanout
package import PushModel

package import struct FoundationEssentials.Date

/// From one try's outcome to what is written: the attempt, and a wait, a mark on the device or a pause. Pure.
package struct Resolution: Sendable {
    package var policy: RetryPolicy
    package var pauseForMisconfiguration: Duration
    /// Endpoints that are configured, for the one try at the other APNs environment.
    package var endpoints: Set<ProviderEndpoint>

    package init(policy: RetryPolicy, pauseForMisconfiguration: Duration, endpoints: Set<ProviderEndpoint>) {
        self.policy = policy
        self.pauseForMisconfiguration = pauseForMisconfiguration
        self.endpoints = endpoints
    }

    /// - Parameters:
    ///   - item: what was sent.
    ///   - weigh: what the refusal of a token at an endpoint is worth; asked once for each that is final.
    package func resolve(
        _ item: PendingDelivery, _ result: SendResult, at endpoint: ProviderEndpoint, now: Date,
        weigh: (PruneGuard.Ground, ProviderEndpoint) -> PruneGuard.Verdict,
        using generator: inout some RandomNumberGenerator
    ) -> QueueRecord {
        var record = QueueRecord()
        let outcome = Self.judged(result.outcome, after: item.waitedFor)
        let elsewhere = self.otherEnvironment(of: item, at: endpoint)
        var entry = AttemptEntry(
            delivery: item.reference, number: item.attempts + 1, state: .available, outcome: outcome.name,
            status: result.status, reason: outcome.reason, duration: result.duration)

        switch outcome {
        case .accepted(let providerID):
            entry.state = .accepted
            entry.providerID = providerID
            if elsewhere == .isThis, let device = item.delivery?.device, let environment = endpoint.environment {
                record.environments.append(
                    EnvironmentEntry(
                        deviceID: device.id, storedToken: device.pushToken ?? "", environment: environment))
            }
        case .deviceDead(let reason, let since):
            self.refused(item, reason, since: since, at: endpoint, weigh, &entry, &record)
        case .badDeviceToken(let reason):
            if case .mayTry(let other) = elsewhere {
                record.park(item, at: other, attempts: item.attempts, reason: reason, wait: .zero)
            } else {
                self.refused(item, reason, since: nil, at: endpoint, weigh, &entry, &record)
            }
        case .rejected:
            entry.state = .discarded
        case .misconfigured where elsewhere == .isThis:
            // The key does not serve the other environment: then the token stays what it was, unmarked.
            entry.state = .discarded
        case .misconfigured(_, _, .device):
            // About this kind of device alone, such as Firebase's own credential for the web: nothing to pause.
            entry.state = .discarded
        case .misconfigured(let reason, let fix, let scope):
            let pause = self.pauseForMisconfiguration
            for paused in Self.endpoints(in: scope, of: endpoint) {
                record.pauses.append(PauseEntry(endpoint: paused, duration: pause, reason: reason, fix: fix))
            }
            record.park(item, at: endpoint, attempts: item.attempts, reason: reason, wait: pause)
        case .retry, .unknown:
            self.retry(item, outcome, at: endpoint, now: now, entry: &entry, record: &record, using: &generator)
        }

        // An acceptance ends the wait whoever holds it: of a batch that was taken over, the other may have put it aside.
        if entry.state == .accepted || (entry.state.isFinal && item.waitingLease != nil) {
            record.settled.append(item.reference.deliveryID)
        }
        record.attempts.append(entry)
        return record
    }

    /// A token was refused for good. Whether it is believed is for the endpoint to say where the device belongs: the
    /// other environment, tried once, may never have accepted anything.
    private func refused(
        _ item: PendingDelivery, _ reason: String, since: Date?, at endpoint: ProviderEndpoint,
        _ weigh: (PruneGuard.Ground, ProviderEndpoint) -> PruneGuard.Verdict,
        _ entry: inout AttemptEntry, _ record: inout QueueRecord
    ) {
        let home = item.delivery.map { ProviderEndpoint(device: $0.device) } ?? endpoint
        switch weigh(Self.ground(reason), home) {
        case .mark:
            entry.state = .discarded
            record.markDead(item, reason: reason, since: since)
        case .keep:
            entry.state = .discarded
        case .distrust:
            let pause = self.pauseForMisconfiguration
            record.pauses.append(
                PauseEntry(endpoint: home, duration: pause, reason: reason, fix: Self.fixForAllRefused(home)))
            record.park(item, at: home, attempts: item.attempts, reason: reason, wait: pause)
        }
    }

    private static func fixForAllRefused(_ endpoint: ProviderEndpoint) -> String {
        switch endpoint.provider {
        case .apns: "device after device is refused: check APNS_TOPIC, APNS_URL and APNS_DEVELOPMENT_URL"
        case .fcm:
            "device after device is refused: check that GOOGLE_APPLICATION_CREDENTIALS is of the app's Firebase project"
        }
    }

    private func retry(
        _ item: PendingDelivery, _ outcome: SendOutcome, at endpoint: ProviderEndpoint, now: Date,
        entry: inout AttemptEntry, record: inout QueueRecord, using generator: inout some RandomNumberGenerator
    ) {
        let step = self.policy.next(
            attempt: item.attempts + 1, outcome: outcome, provider: endpoint.provider, now: now,
            expiresAt: item.expiresAt, using: &generator)
        switch step {
        case .again(let wait):
            var counts = true
            if case .retry(let retry) = outcome {
                counts = retry.countsAsAttempt
                if retry.scope != .device, let floor = retry.floor {
                    for paused in Self.endpoints(in: retry.scope, of: endpoint) {
                        record.pauses.append(
                            PauseEntry(endpoint: paused, duration: floor, reason: retry.reason, fix: nil))
                    }
                }
            }
            record.park(
                item, at: endpoint, attempts: item.attempts + (counts ? 1 : 0), reason: outcome.reason ?? "retry",
                wait: wait)
        case .discard(let reason):
            entry.state = .discarded
            entry.reason = reason.rawValue
        case .final:
            entry.state = .discarded
        }
    }

    /// The same answer after the renewal it asked for is a fault of configuration.
    private static func judged(_ outcome: SendOutcome, after waitedFor: String?) -> SendOutcome {
        guard let waitedFor, outcome.reason == waitedFor else { return outcome }
        return outcome.repeatedAfterRenewal
    }

    private enum Elsewhere: Equatable {
        /// The other APNs environment can be tried.
        case mayTry(ProviderEndpoint)
        /// This was that try.
        case isThis
        case none
    }

    private func otherEnvironment(of item: PendingDelivery, at endpoint: ProviderEndpoint) -> Elsewhere {
        guard let environment = endpoint.environment, let device = item.delivery?.device else { return .none }
        if device.apnsEnvironment != environment { return .isThis }
        let other = ProviderEndpoint(environment: environment.other)
        return self.endpoints.contains(other) ? .mayTry(other) : .none
    }

    private static func ground(_ reason: String) -> PruneGuard.Ground {
        ["Unregistered", "ExpiredToken", "UNREGISTERED"].contains(reason) ? .certain : .doubtful
    }

    private static func endpoints(in scope: SendOutcome.Scope, of endpoint: ProviderEndpoint) -> [ProviderEndpoint] {
        scope == .provider ? ProviderEndpoint.allCases.filter { $0.provider == endpoint.provider } : [endpoint]
    }
}

extension QueueRecord {
    fileprivate mutating func park(
        _ item: PendingDelivery, at endpoint: ProviderEndpoint, attempts: Int, reason: String, wait: Duration
    ) {
        self.parked.append(
            ParkedEntry(
                delivery: item.reference, endpoint: endpoint, attempts: attempts, reason: reason, wait: wait,
                expiresAt: item.expiresAt))
    }

    fileprivate mutating func markDead(_ item: PendingDelivery, reason: String, since: Date?) {
        guard let device = item.delivery?.device, let token = device.pushToken else { return }
        self.deadTokens.append(
            DeadTokenEntry(deviceID: device.id, storedToken: token, reason: reason, since: since))
    }
}
