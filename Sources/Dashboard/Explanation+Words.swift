import PushModel

/// The words that are stored as text: outcomes of tries, and the reasons of providers and of the transport. Ours that
/// are closed sets stand in the functions of the other file, where the compiler misses none.
extension Explanation {
    static let outcomes: [String: Explanation] = [
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

    static let words: [String: Explanation] = [
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
}
