package import PushModel

/// What the words of the queue mean, for a person: decisions, states, outcomes and reasons. One table for every page
/// and for the command line.
///
/// APNs' and FCM's words: Apple's "Handling notification responses from APNs" and Firebase's "ErrorCode"
/// (`protocol.md` A.8 and B.5).
package struct Explanation: Equatable, Sendable {
    /// A few words, as a title: "Already read".
    package let title: String
    /// One sentence: what happened.
    package let meaning: String
    /// What to do about it; nil: nothing.
    package let advice: String?

    package init(_ title: String, _ meaning: String, advice: String? = nil) {
        self.title = title
        self.meaning = meaning
        self.advice = advice
    }

    // MARK: - Closed sets

    package static func decision(_ decision: FanoutDecision) -> Explanation {
        switch decision {
        case .fannedOut:
            Explanation("Pushed", "A push was made for each device of the account that can take one.")
        case .switchedOff:
            Explanation(
                "Switched off", "The account has turned off pushes of this kind; the in-app list shows it all the same."
            )
        case .coalesced:
            Explanation(
                "Said already",
                "An earlier unread notification of the same account, kind and connection says the same, so the phone was not bothered again."
            )
        case .alreadyRead:
            Explanation("Already read", "It had been read in the app before its turn came.")
        case .ignored:
            Explanation("Ignored", "The person had set it aside in the app before its turn came.")
        case .noDevices:
            Explanation(
                "No device", "The account has no device with a usable push token.",
                advice: "If the person expects pushes: the app must be opened once, with notifications allowed.")
        case .unknownKind:
            Explanation(
                "Unknown kind", "This worker does not know the kind, so nobody was pushed.",
                advice: "Retired kinds are no trouble. For a new kind, update the worker and its language files.")
        case .tooOld:
            Explanation(
                "Too old", "It was older than its lifetime when it was found.",
                advice: "Expected after a long outage; PUSH_LIFETIME says how long a push is worth sending.")
        case .gone:
            Explanation("Deleted", "The row, or its account, was deleted before its turn came.")
        case .cancelled:
            Explanation("Cancelled", "An operator called it off while it was in the queue; see the activity beside it.")
        }
    }

    package static func state(_ state: DeliveryState) -> Explanation {
        switch state {
        case .available: Explanation("Waiting", "Ready for its next try when its time comes.")
        case .running: Explanation("Running", "A worker holds it at this moment.")
        case .accepted:
            Explanation(
                "Accepted",
                "Apple or Google took it. Whether the phone showed it, no provider tells: it may be off, or in a focus mode."
            )
        case .discarded: Explanation("Discarded", "Given up: it was refused for good, or its time ran out.")
        case .cancelled: Explanation("Cancelled", "Not wanted any more when its turn came.")
        }
    }

    package static func origin(_ origin: OutboxOrigin) -> Explanation {
        switch origin {
        case .trigger: Explanation("Trigger", "The database trigger put it in the queue.")
        case .webhook: Explanation("Webhook", "The database webhook told of it.")
        case .sweep:
            Explanation(
                "Sweep", "Neither trigger nor webhook told of it; the sweep of each minute found it.",
                advice:
                    "Now and then is fine. If every row comes this way, the trigger is missing: push-fanout migrate.")
        case .rescue: Explanation("Rescue", "A worker was lost while it held it; another took over.")
        case .operator: Explanation("Operator", "An operator put it in the queue again.")
        }
    }

    package static func lane(_ lane: Lane) -> Explanation {
        switch lane {
        case .interactive: Explanation("Interactive", "Invitations: people wait for them, so they go first.")
        case .normal: Explanation("Normal", "News about contacts and circles.")
        case .bulk: Explanation("Bulk", "System messages, often to everybody at once, so they go last.")
        }
    }

    package static func reason(_ reason: DeliveryReason) -> Explanation {
        switch reason {
        case .alreadyRead: Explanation("Already read", "It was read in the app before this try.")
        case .ignored: Explanation("Ignored", "It was set aside in the app before this try.")
        case .gone: Explanation("Deleted", "The notification, its account or its device was deleted before this try.")
        case .switchedOff: Explanation("Switched off", "The account turned this kind off before this try.")
        case .tokenChanged:
            Explanation(
                "Token changed", "The device has another push token now, or none; this one was for the old one.")
        case .unknownKind:
            Explanation("Kind changed", "The row has become one of a kind this worker does not know.")
        case .operator: Explanation("By an operator", "An operator ended it; see the activity beside it.")
        case .expired:
            Explanation(
                "Expired", "Its lifetime ended before any try was accepted.",
                advice: "Look at the earlier tries for what held it up.")
        case .exhausted:
            Explanation(
                "Tried too often", "It used up every try that it may have.",
                advice: "Look at the reason of the last try; once that is mended, retry it.")
        case .providerNotConfigured:
            Explanation(
                "Provider not set up", "The worker has no credentials for this device's provider.",
                advice: "Set APNS_KEY and its companions, or GOOGLE_APPLICATION_CREDENTIALS; then retry.")
        case .duplicateToken:
            Explanation(
                "Same phone twice", "Two devices of the account hold the same address; the other one was pushed.")
        case .workersLost:
            Explanation(
                "Workers lost", "Worker after worker died while it held this one, and this one alone.",
                advice:
                    "Keep it: it may make the worker crash. Look in the worker's log for its last lines, and report it."
            )
        }
    }

    package static func malformed(_ fault: DeviceToken.Malformed) -> Explanation {
        let advice = "The app stored something that is no push token; the device registers anew when it is opened."
        return switch fault {
        case .empty: Explanation("Empty token", "The device has an empty push token.", advice: advice)
        case .notHexadecimal:
            Explanation("Not an APNs token", "It holds more than hexadecimal digits.", advice: advice)
        case .oddLength: Explanation("Not an APNs token", "It has an odd number of digits.", advice: advice)
        case .badLength: Explanation("Not a token", "It is far too short or too long.", advice: advice)
        case .forbiddenCharacter:
            Explanation("Not an FCM token", "It holds spaces or characters that no token has.", advice: advice)
        }
    }

    // MARK: - Words as they are stored

    /// For a word of `push.attempts.reason` or `push.waiting.reason`: ours, a provider's or the transport's.
    package static func reason(named name: String) -> Explanation {
        if let reason = DeliveryReason(rawValue: name) { return self.reason(reason) }
        if let fault = DeviceToken.Malformed(rawValue: name) { return self.malformed(fault) }
        if let known = Self.words[name] { return known }
        // "INVALID_ARGUMENT message.data": a code, then the field that was wrong.
        let parts = name.split(separator: " ", maxSplits: 1)
        if parts.count == 2, let known = Self.words[String(parts[0])] {
            return Explanation(
                known.title, "\(known.meaning) The field: \(parts[1]).", advice: known.advice)
        }
        if name.hasPrefix("status_"), let status = Int(name.dropFirst("status_".count)) {
            return Explanation(
                "Status \(status)", "The provider answered with status \(status) and gave no reason.",
                advice: status == 404 || (300..<400).contains(status)
                    ? "This is no answer of Apple's or Google's push service: check APNS_URL and FCM_URL." : nil)
        }
        if name.hasPrefix("token_endpoint_") {
            return Explanation(
                "No access token",
                "Google refused to give an access token: \(name.dropFirst("token_endpoint_".count)).",
                advice: "Check GOOGLE_APPLICATION_CREDENTIALS: the service account, its key, and this machine's clock.")
        }
        if name.hasPrefix("libcurl_") {
            return Explanation(
                "Connection failed", "The request failed on the way, libcurl's error \(name.dropFirst(8)).")
        }
        return Explanation(
            name, "A word of the provider's that this worker does not know.",
            advice: "Look it up in the provider's documentation.")
    }

    /// For a word of `push.attempts.outcome`.
    package static func outcome(named name: String) -> Explanation {
        Self.outcomes[name] ?? Explanation(name, "A word this version does not know.")
    }

    /// For a decision, a state, a lane or an origin as stored; a word of another version explains itself.
    package static func decision(named name: String) -> Explanation {
        FanoutDecision(rawValue: name).map(self.decision) ?? Explanation(name, "A decision of another version.")
    }

    package static func origin(named name: String) -> Explanation {
        OutboxOrigin(rawValue: name).map(self.origin) ?? Explanation(name, "An origin of another version.")
    }

    package static func kind(named name: String) -> String {
        switch name {
        case "invitation_received": "Invitation received"
        case "invitation_accepted": "Invitation accepted"
        case "contact_updated": "Contact updated"
        case "circle_changed": "Circle changed"
        case "system": "System message"
        default: name
        }
    }

    package static func endpoint(_ endpoint: ProviderEndpoint) -> String {
        switch endpoint {
        case .apnsProduction: "APNs production"
        case .apnsDevelopment: "APNs development"
        case .fcm: "FCM"
        }
    }

    package static func platform(_ platform: Platform) -> String {
        platform == .ios ? "iPhone" : "Android"
    }
}
