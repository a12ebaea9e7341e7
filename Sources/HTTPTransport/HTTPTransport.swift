/// The seam between what is sent and how: requests and answers cross it in batches.
package protocol HTTPTransport: Sendable {
    /// Sends `requests` and yields exchanges in the order in which they end, several at a time where they end together.
    ///
    /// Every request comes back exactly once, an HTTP answer or a failure, and none is sent twice: whoever wants a
    /// second try asks for it. The stream finishes after the last one.
    func send(_ requests: [HTTPRequest]) -> AsyncStream<[HTTPExchange]>

    /// Lets the connections in use finish what they have and opens new ones for what comes after: for a new key, or
    /// a connection the provider will not serve any more.
    func renewConnections()
}

/// One request. Method is POST; the body is sent as it is.
package struct HTTPRequest: Sendable {
    /// The caller's own number, given back in the exchange.
    package var id: Int
    /// Absolute, `https` only.
    package var url: String
    /// Names in lower case.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(id: Int, url: String, headers: [(name: String, value: String)], body: [UInt8]) {
        self.id = id
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// How one request ended.
package struct HTTPExchange: Sendable {
    package var id: Int
    package var result: Result<HTTPAnswer, HTTPFailure>
    /// From the hand-over to libcurl to the end.
    package var duration: Duration

    package init(id: Int, result: Result<HTTPAnswer, HTTPFailure>, duration: Duration) {
        self.id = id
        self.result = result
        self.duration = duration
    }
}

package struct HTTPAnswer: Equatable, Sendable {
    package var status: Int
    /// Names in lower case; the last of a repeated header.
    package var headers: [String: String]
    /// At most the first 64 KiB.
    package var body: [UInt8]

    package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why there is no answer. The reason is a word for the record, without address, token or header.
package struct HTTPFailure: Error, Equatable, Sendable {
    package enum Fate: Sendable {
        /// The request certainly did not reach the application: no connection, or refused before it was read.
        case notSent
        /// It may have been handled.
        case unknown
    }

    package var fate: Fate
    package var reason: String

    package init(fate: Fate, reason: String) {
        self.fate = fate
        self.reason = reason
    }
}
