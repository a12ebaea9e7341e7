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

    private static let outcomes: [String: Explanation] = [
        "accepted": Explanation("Accepted", "The provider took it."),
        "retry": Explanation("Try again", "Not now: it is tried again after a pause."),
        "device_dead": Explanation("Phone gone", "The address no longer leads to the app."),
        "bad_device_token": Explanation("Token refused", "The provider does not know the address."),
        "rejected": Explanation("Refused", "This request will never be accepted as it is."),
        "misconfigured": Explanation(
            "Configuration", "Every push would fail the same way, so the provider was paused and nothing is lost."),
        "unknown": Explanation(
            "Not known",
            "The request went out and no answer came back. It is tried again under the same ids, so that a phone shows it once."
        ),
        "refused": Explanation("Not sent", "It could not be sent, so nothing was tried."),
        "cancelled": Explanation("Cancelled", "Not wanted any more when its turn came."),
        "discarded": Explanation("Given up", "Given up without another try."),
        "retried": Explanation("Retried by an operator", "An operator had it tried again."),
    ]

    private static let reRegisters =
        "Nothing: the device comes back with a new token when the app is opened."
    private static let ourFault = "A fault of push-fanout, or of a changed protocol: report it. Retrying does not help."
    private static let passing = "Nothing: it is tried again by itself. Retry or resume by hand only if it lasts."

    private static func broken(_ what: String) -> Explanation {
        Explanation("Bad request", "APNs did not like \(what).", advice: Self.ourFault)
    }

    private static func network(_ title: String, _ meaning: String, advice: String? = nil) -> Explanation {
        Explanation(title, meaning, advice: advice ?? Self.passing)
    }

    private static let words: [String: Explanation] = [
        // APNs
        "BadCollapseId": broken("the collapse id"),
        "BadDeviceToken": Explanation(
            "Token refused", "APNs does not know this token here, nor in the other environment.", advice: reRegisters),
        "BadExpirationDate": broken("the expiration date"),
        "BadMessageId": broken("the message id"),
        "BadPriority": broken("the priority"),
        "BadTopic": Explanation(
            "Wrong topic", "APNs does not accept the topic.",
            advice: "Set APNS_TOPIC to the app's bundle id, restart, and resume APNs."),
        "DeviceTokenNotForTopic": Explanation(
            "Another app's token", "The token belongs to another app than APNS_TOPIC.",
            advice: "One device: nothing. Many: check APNS_TOPIC."),
        "DuplicateHeaders": broken("a repeated header"),
        "IdleTimeout": network("Connection idle", "APNs had closed an idle connection."),
        "InvalidPushType": broken("the push type"),
        "MissingDeviceToken": broken("the missing device token"),
        "MissingTopic": Explanation(
            "No topic", "The request named no topic.", advice: "Set APNS_TOPIC to the app's bundle id, and resume APNs."
        ),
        "PayloadEmpty": broken("the empty payload"),
        "TopicDisallowed": Explanation(
            "Topic not allowed", "The key may not push to this app.",
            advice: "Allow it in Apple's developer account or correct APNS_TOPIC; then resume APNs."),
        "BadCertificate": Explanation(
            "Certificate refused", "APNs was shown a client certificate that it refuses.",
            advice: "Check that APNS_URL leads to Apple and that no proxy adds a certificate."),
        "BadCertificateEnvironment": Explanation(
            "Certificate of the other environment", "APNs was shown a client certificate of the other environment.",
            advice: "Check that APNS_URL leads to Apple and that no proxy adds a certificate."),
        "ExpiredProviderToken": Explanation(
            "Provider token too old", "APNs calls our token older than an hour; a new one was made.",
            advice: "If it comes back: set this machine's clock."),
        "Forbidden": Explanation(
            "Not allowed", "The key may not do this.",
            advice: "Check in Apple's developer account what the key APNS_KEY_ID may do; then resume APNs."),
        "InvalidProviderToken": Explanation(
            "Key refused", "APNs does not accept our signature.",
            advice:
                "Check that APNS_KEY, APNS_KEY_ID and APNS_TEAM_ID belong together, and the clock; then resume APNs."),
        "MissingProviderToken": broken("the missing provider token"),
        "UnrelatedKeyIdInToken": Explanation(
            "Two keys on one connection",
            "The key is not related to the first one of the connection; a new one was opened.",
            advice: "If it comes back: all workers must use the key that APNS_KEY_ID names."),
        "BadEnvironmentKeyIdInToken": Explanation(
            "Key of the other environment", "The key serves the other APNs environment only.",
            advice: "Use an APNS_KEY for this environment, or one for both; then resume it."),
        "BadEnvironmentKeyInToken": Explanation(
            "Key of the other environment", "The key serves the other APNs environment only.",
            advice: "Use an APNS_KEY for this environment, or one for both; then resume it."),
        "BadPath": broken("the path"),
        "MethodNotAllowed": broken("the method"),
        "ExpiredToken": Explanation("Phone gone", "The device token has expired.", advice: reRegisters),
        "Unregistered": Explanation(
            "App removed", "The app was removed from this phone, or its token replaced.", advice: reRegisters),
        "PayloadTooLarge": broken("the size of the payload"),
        "TooManyProviderTokenUpdates": Explanation(
            "Too many tokens", "The provider token was renewed too often; APNs wants twenty minutes between two.",
            advice: "Check whether several programs make tokens with one key, or the worker restarts in a loop."),
        "TooManyRequests": Explanation(
            "Too many for one phone", "Apple slows pushes to this one device.", advice: passing),
        "InternalServerError": network("Apple's fault", "APNs had an error of its own."),
        "ServiceUnavailable": network("APNs unavailable", "APNs is not available."),
        "Shutdown": network("Server going down", "That server of APNs was going down; the next try takes another."),
        // FCM
        "INVALID_ARGUMENT": Explanation(
            "Not accepted", "FCM refused the token, or a field of the request.",
            advice:
                "With a field named: report it. Without: the device comes back with a new token when the app is opened."
        ),
        "UNREGISTERED": Explanation(
            "App removed", "The app was removed from this phone, or its token has expired.", advice: reRegisters),
        "SENDER_ID_MISMATCH": Explanation(
            "Another project's token", "The token belongs to another Firebase project.",
            advice: "One device: nothing. Many: check that GOOGLE_APPLICATION_CREDENTIALS is of the app's project."),
        "QUOTA_EXCEEDED": Explanation(
            "Quota used up", "FCM asks for a slower pace, for this phone or for the project.",
            advice: "Nothing: it waits as long as FCM says. If it lasts, ask Google for a higher quota."),
        "RESOURCE_EXHAUSTED": Explanation("Quota used up", "FCM asks for a slower pace.", advice: passing),
        "UNAVAILABLE": network("FCM unavailable", "FCM is overloaded or not available."),
        "INTERNAL": network("Google's fault", "FCM had an error of its own."),
        "THIRD_PARTY_AUTH_ERROR": Explanation(
            "Not an Android address", "The address belongs to an Apple device or a browser registered with Firebase.",
            advice: "Repair that credential in the Firebase console, or store such devices as ios."),
        "APNS_AUTH_ERROR": Explanation(
            "Not an Android address", "The address belongs to an Apple device registered with Firebase.",
            advice: "Repair that credential in the Firebase console, or store such devices as ios."),
        "UNSPECIFIED_ERROR": Explanation("No reason given", "FCM gave no reason."),
        "UNAUTHENTICATED": Explanation(
            "Access token refused", "FCM did not accept our access token; a new one was fetched.",
            advice: "If it comes back: check GOOGLE_APPLICATION_CREDENTIALS and the clock."),
        "CREDENTIALS_MISSING": Explanation(
            "Access token refused", "FCM saw no access token.", advice: "Check that no proxy removes the authorization."
        ),
        "ACCESS_TOKEN_EXPIRED": Explanation(
            "Access token too old", "FCM calls our access token expired; a new one was fetched.",
            advice: "If it comes back: set this machine's clock."),
        "PERMISSION_DENIED": Explanation(
            "Not allowed", "The service account may not send.",
            advice:
                "Check the project, the role roles/firebasecloudmessaging.admin and that the FCM API is on; then resume FCM."
        ),
        "IAM_PERMISSION_DENIED": Explanation(
            "Role missing", "The service account lacks the right to send.",
            advice: "Give it the role roles/firebasecloudmessaging.admin in the project; then resume FCM."),
        "SERVICE_DISABLED": Explanation(
            "API off", "The Firebase Cloud Messaging API is off in the project.",
            advice: "Turn it on in Google's console; then resume FCM."),
        "NOT_FOUND": Explanation(
            "Wrong address", "There is no FCM at that address.",
            advice: "Check FCM_URL and the project id; then resume FCM."),
        "token_endpoint_unavailable": network("No access token", "Google's token server did not answer."),
        // Ours
        "provider_paused": Explanation(
            "Provider paused", "The provider is paused, so it waits.",
            advice: "Resume the provider when its fault is mended."),
        "key_cannot_sign": Explanation(
            "Key unusable", "The key in APNS_KEY cannot sign.", advice: "Check APNS_KEY; then resume APNs."),
        "credential_superseded": network(
            "Credential renewed", "The credential was renewed on the way; nothing was sent."),
        "operator": Explanation("By an operator", "An operator ended it; see the activity beside it."),
        // On the way
        "invalid_url": Explanation(
            "Bad address", "The provider's address is no URL.",
            advice: "Check APNS_URL, APNS_DEVELOPMENT_URL and FCM_URL."),
        "invalid_request": Explanation("Bad request", "The request could not be built.", advice: ourFault),
        "name_not_resolved": network(
            "Name not found", "The provider's name could not be resolved.",
            advice: "If it lasts: check DNS on this machine."),
        "connect_failed": network(
            "No connection", "No connection to the provider came about.",
            advice: "If it lasts: check the firewall; APNs needs port 443 outwards."),
        "connect_timed_out": network(
            "No connection in time", "Connecting took too long; nothing was sent.",
            advice: "If it lasts: check the firewall; APNs needs port 443 outwards."),
        "timed_out": network("No answer in time", "The request went out and no answer came in time."),
        "resend_refused": network("Connection lost", "The connection broke after the request went out."),
        "aborted": network("Stopped", "It was stopped before it went out."),
        "certificate_refused": network(
            "Certificate not trusted", "The provider's certificate is not trusted.",
            advice: "Check ca-certificates, PUSH_CA_FILE, and whether a proxy opens TLS on the way."),
        "ca_file_unusable": network(
            "CA file unusable", "The file in PUSH_CA_FILE cannot be used.", advice: "Check PUSH_CA_FILE."),
        "tls_failed": network("TLS failed", "No secure connection came about."),
        "connection_lost": network("Connection lost", "The connection broke on the way."),
        "http2_error": network("Protocol error", "The connection broke the rules of HTTP/2 and was closed."),
        "stream_reset": network("Reset", "The provider broke off this one request."),
        "out_of_memory": network(
            "Out of memory", "The worker had no memory left for it.", advice: "Give the worker more."),
        "shut_down": network("Worker stopped", "The worker was stopping; it was handed back."),
    ]

    /// Every word of a provider or of the transport that has an explanation.
    package static var knownReasons: [String] {
        Self.words.keys.sorted() + DeliveryReason.allCases.map(\.rawValue)
    }
}
