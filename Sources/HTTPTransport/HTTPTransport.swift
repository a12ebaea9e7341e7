/// The seam between what is sent and how: requests and answers cross it in batches.
package protocol HTTPTransport: Sendable {
    /// Sends `requests` and yields exchanges in the order in which they end, several at a time where they end together.
    ///
    /// Every request comes back exactly once, an HTTP answer or a failure, and none is sent twice: whoever wants a
    /// second try asks for it. The stream finishes after the last one.
    ///
    /// One who stops reading the stream before (by cancellation, or by dropping it) gives up those that are still
    /// waiting for a connection; those on the wire end without anybody hearing of it.
    func send(_ requests: [HTTPRequest]) -> AsyncStream<[HTTPExchange]>

    /// Lets the connections in use finish what they have and opens new ones for what comes after: for a new key, or
    /// a connection the provider will not serve any more.
    func renewConnections()

    /// The credential with this number, or a later one, is the only one to be used from now on: connections that have
    /// seen an earlier one finish what they have, and requests that wait with one fail as not sent, for the reason
    /// ``HTTPFailure/credentialSuperseded``. Sending a request with a later credential does the same.
    func use(credential: Int)

    /// For metrics.
    var statistics: TransportStatistics { get }
}

extension HTTPTransport {
    package func use(credential: Int) {}
    package var statistics: TransportStatistics { TransportStatistics() }
}

/// What a transport is doing just now, and what it has done since it was made.
package struct TransportStatistics: Equatable, Sendable {
    package var connections = 0
    package var inFlight = 0
    package var queued = 0
    package var connectionsOpened = 0
    package var requestsSent = 0

    package init(
        connections: Int = 0, inFlight: Int = 0, queued: Int = 0, connectionsOpened: Int = 0, requestsSent: Int = 0
    ) {
        self.connections = connections
        self.inFlight = inFlight
        self.queued = queued
        self.connectionsOpened = connectionsOpened
        self.requestsSent = requestsSent
    }
}

/// One request. Method is POST; the body is sent as it is.
package struct HTTPRequest: Sendable {
    /// The caller's own number, given back in the exchange.
    package var id: Int
    /// Absolute, `https` only, and always of the host that the transport is for.
    package var url: String
    /// Names in lower case.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Which credential the headers carry, counted up: no connection sees two. The same in all requests of one call.
    package var credential = 0

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
    /// From the hand-over to a connection to the end; zero if it never came to that.
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
///
/// Not sent: `name_not_resolved` `connect_failed` `connect_timed_out` `tls_failed` `certificate_refused`
/// `ca_file_unusable` `http1_refused` `invalid_url` `invalid_request` `shut_down` `no_resources` `out_of_memory`
/// `credential_superseded`.
/// Unknown: `timed_out` `connection_lost` `stream_reset` `http2_error` `resend_refused` (libcurl would have sent it
/// again: the connection died or the stream was refused) `shut_down`. Others are `libcurl_` and its code.
package struct HTTPFailure: Error, Equatable, Sendable {
    package enum Fate: Sendable {
        /// Not a byte of the request went out.
        case notSent
        /// It may have been handled.
        case unknown
    }

    package var fate: Fate
    package var reason: String

    /// The request came too late for its credential.
    package static let credentialSuperseded = HTTPFailure(fate: .notSent, reason: "credential_superseded")

    package init(fate: Fate, reason: String) {
        self.fate = fate
        self.reason = reason
    }
}
