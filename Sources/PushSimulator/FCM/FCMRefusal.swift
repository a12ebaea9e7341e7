/// A message that FCM turns down, in the shape of Google's APIs (protocol.md B.5).
struct FCMRefusal: Error, Equatable {
    var code: Int
    var message: String
    /// The RPC status, for example `INVALID_ARGUMENT`.
    var status: String
    var details: [OrderedJSON]
    var headers: [H2Header] = []
    /// What to record: FCM's own code where there is one, else the message.
    var reason: String
    /// Set where Google's front end answers and not FCM.
    var html: String?

    init(_ code: Int, _ message: String, _ status: String, details: [OrderedJSON] = [], reason: String? = nil) {
        self.code = code
        self.message = message
        self.status = status
        self.details = details
        self.reason = reason ?? message
    }

    var answer: SimulatedAnswer {
        if let html = self.html {
            return SimulatedAnswer(
                status: self.code, reason: self.reason, headers: [H2Header("content-type", "text/html; charset=UTF-8")],
                body: Array(html.utf8))
        }
        var members: [OrderedJSON.Member] = [
            .init(name: "code", value: .integer(self.code)), .init(name: "message", value: .string(self.message)),
            .init(name: "status", value: .string(self.status)),
        ]
        if !self.details.isEmpty { members.append(.init(name: "details", value: .array(self.details))) }
        let body: OrderedJSON = ["error": .object(members)]
        return SimulatedAnswer(
            status: self.code, reason: self.reason,
            headers: [H2Header("content-type", "application/json; charset=UTF-8")] + self.headers,
            body: Array(body.text.utf8))
    }

    // MARK: - Details

    static func fcmError(_ code: String) -> OrderedJSON {
        ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code)]
    }

    static func badRequest(_ field: String, _ description: String) -> OrderedJSON {
        [
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [["field": .string(field), "description": .string(description)]],
        ]
    }

    static func errorInfo(_ reason: String) -> OrderedJSON {
        [
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(reason), "domain": "googleapis.com",
            "metadata": [
                "method": "google.firebase.fcm.v1.FcmService.SendMessage", "service": "fcm.googleapis.com",
            ],
        ]
    }

    // MARK: - The refusals of table F.4

    static func invalid(_ message: String, field: String? = nil, isFCM: Bool = false) -> FCMRefusal {
        var details: [OrderedJSON] = []
        if let field { details.append(Self.badRequest(field, message)) }
        if isFCM { details.append(Self.fcmError("INVALID_ARGUMENT")) }
        return FCMRefusal(400, message, "INVALID_ARGUMENT", details: details)
    }

    /// What the product must not send. Not a word of Google's, but in the shape clients can read.
    static func own(_ reason: String) -> FCMRefusal {
        FCMRefusal(400, SimulatedAnswer.ownReasonPrefix + reason, "INVALID_ARGUMENT")
    }

    static func notFoundPage(_ path: String) -> FCMRefusal {
        var refusal = FCMRefusal(404, "Not Found", "NOT_FOUND")
        refusal.html = """
            <!DOCTYPE html>
            <html lang=en><title>Error 404 (Not Found)!!1</title>
            <p><b>404.</b> <ins>That’s an error.</ins>
            <p>The requested URL <code>\(path.filter { !"<>&\"".contains($0) })</code> was not found on this server.
            """
        return refusal
    }

    static let noCredential = FCMRefusal(
        401,
        "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other "
            + "valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
        "UNAUTHENTICATED", details: [Self.errorInfo("CREDENTIALS_MISSING")], reason: "CREDENTIALS_MISSING")

    static func badCredential(isExpired: Bool) -> FCMRefusal {
        FCMRefusal(
            401,
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
                + "authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
            "UNAUTHENTICATED", details: isExpired ? [Self.errorInfo("ACCESS_TOKEN_EXPIRED")] : [],
            reason: isExpired ? "ACCESS_TOKEN_EXPIRED" : "UNAUTHENTICATED")
    }

    static func noPermission(_ project: String) -> FCMRefusal {
        FCMRefusal(
            403,
            "Permission 'cloudmessaging.messages.create' denied on resource "
                + "'//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).",
            "PERMISSION_DENIED",
            details: [
                [
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "IAM_PERMISSION_DENIED",
                    "domain": "cloudresourcemanager.googleapis.com",
                    "metadata": [
                        "resource": .string("projects/\(project)"), "permission": "cloudmessaging.messages.create",
                    ],
                ]
            ], reason: "IAM_PERMISSION_DENIED")
    }

    static let senderMismatch = FCMRefusal(
        403, "SenderId mismatch", "PERMISSION_DENIED", details: [Self.fcmError("SENDER_ID_MISMATCH")],
        reason: "SENDER_ID_MISMATCH")

    static let unregistered = FCMRefusal(
        404, "Requested entity was not found.", "NOT_FOUND", details: [Self.fcmError("UNREGISTERED")],
        reason: "UNREGISTERED")

    static func invalidToken(olderWords: Bool) -> FCMRefusal {
        guard olderWords else {
            return FCMRefusal(
                400, "The registration token is not a valid FCM registration token", "INVALID_ARGUMENT",
                details: [Self.fcmError("INVALID_ARGUMENT")])
        }
        let message = "Request contains an invalid argument."
        return FCMRefusal(
            400, message, "INVALID_ARGUMENT",
            details: [
                Self.fcmError("INVALID_ARGUMENT"), Self.badRequest("message.token", "Invalid registration token"),
            ], reason: "Invalid registration token")
    }

    static func quota(_ subject: String, retryAfter: String? = nil) -> FCMRefusal {
        var refusal = FCMRefusal(
            429, "Quota exceeded for quota metric '\(subject)'.", "RESOURCE_EXHAUSTED",
            details: [
                Self.fcmError("QUOTA_EXCEEDED"),
                [
                    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                    "violations": [["subject": .string(subject), "description": "Quota exceeded."]],
                ],
            ], reason: "QUOTA_EXCEEDED")
        if let retryAfter { refusal.headers = [H2Header("retry-after", retryAfter)] }
        return refusal
    }
}
