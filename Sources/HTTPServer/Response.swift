/// An answer to a request.
package struct Response: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Sent for as long as the stream is open. The server closes it when the client goes away.
        case events(EventStream)
    }

    /// HTTP's status code.
    package var status: Int
    /// Beside Content-Length, Date and Connection, which the server adds. A name or value with a control character is
    /// left out.
    package var headers: [RequestHead.Item]
    package var body: Body

    package init(status: Int, headers: [RequestHead.Item] = [], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(
        status: Int, text: String, contentType: String = "text/plain; charset=utf-8", headers: [RequestHead.Item] = []
    ) {
        self.init(
            status: status, headers: [RequestHead.Item("Content-Type", contentType)] + headers,
            body: .bytes(Array(text.utf8)))
    }

    /// A stream of server-sent events.
    package init(events: EventStream) {
        self.init(
            status: 200,
            headers: [
                RequestHead.Item("Content-Type", "text/event-stream"), RequestHead.Item("Cache-Control", "no-store"),
                // A proxy that gathers the answer before it passes it on would hold back every event.
                RequestHead.Item("X-Accel-Buffering", "no"),
            ], body: .events(events))
    }
}

/// What becomes of a request once its head is known, before a byte of its body was read.
package enum Admission: Sendable {
    /// Reads the body, of at most so many bytes (beyond them: 413), and calls ``RequestHandler/respond(to:)``.
    case read(limit: Int)
    /// Sent at once; the body is not read, and the connection is closed.
    case answer(Response)
}

/// Answers requests.
package protocol RequestHandler: Sendable {
    /// Called on the server's own thread, for all connections: must not wait.
    func admit(_ head: RequestHead) -> Admission
    /// Called in a task of its own, which is cancelled when the answer takes too long or the server stops.
    func respond(to request: Request) async -> Response
}
