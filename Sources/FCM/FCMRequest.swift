package import HTTPTransport
package import PushModel

/// One push as FCM wants it, complete but for the host and the access token.
package struct FCMRequest: Sendable {
    package var path: String
    /// In the order in which they are sent.
    package var headers: [(name: String, value: String)] = [("content-type", "application/json")]
    package var body: [UInt8]

    /// `project`: the id of the Firebase project.
    package init(delivery: Delivery, project: String) {
        self.init(FCMPayload(delivery: delivery), project: project)
    }

    /// The question whether FCM knows the delivery's address, with nothing delivered; see
    /// ``FCMOutcome/afterValidation(_:of:)``.
    package init(validating delivery: Delivery, project: String) {
        self.init(FCMPayload(validating: delivery), project: project)
    }

    private init(_ payload: FCMPayload, project: String) {
        self.path = "/v1/projects/\(project)/messages:send"
        self.body = payload.encoded()
    }

    /// For the transport. `baseURL`: scheme and host, `https://fcm.googleapis.com`; `authorization`: `Bearer <token>`.
    package func httpRequest(id: Int, baseURL: String, authorization: String) -> HTTPRequest {
        HTTPRequest(
            id: id, url: (baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL) + self.path,
            headers: self.headers + [("authorization", authorization)], body: self.body)
    }
}
