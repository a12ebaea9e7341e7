/// A complete request, as the handler sees it.
struct H2Request: Sendable {
    /// The server's own number of the connection; never used twice.
    var connection: Int
    /// Which of the server's listeners it came in by.
    var listener: Int
    var stream: Int32
    var request: SimulatedRequest
}

/// An answer to one request.
struct H2Answer: Equatable, Sendable {
    var status: Int
    var headers: [H2Header]
    var body: [UInt8]

    init(status: Int, headers: [H2Header] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

package struct H2Header: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A farewell: no stream above `lastStream` was or will be handled.
struct H2Goaway: Equatable, Sendable {
    var lastStream: Int32
    /// An HTTP/2 error code; 0 is NO_ERROR.
    var code: UInt32
    var debugData: String
}

/// What the handler wants done with a connection or one of its streams.
struct H2Action: Sendable {
    enum Kind: Sendable {
        case answer(H2Answer)
        /// RST_STREAM with this error code; after the headers of `after`, if there is an answer.
        case reset(UInt32, after: H2Answer?)
        case goaway(H2Goaway)
        /// A new SETTINGS_MAX_CONCURRENT_STREAMS.
        case streamLimit(Int)
        /// A TCP reset, with nothing said before.
        case abort
    }

    var connection: Int
    var stream: Int32
    var kind: Kind
    /// How long to wait first.
    var delay: Duration?
}

/// How one connection is run; the handler gives it when the connection opens.
struct H2ConnectionOptions: Sendable {
    /// The first SETTINGS_MAX_CONCURRENT_STREAMS. A stream above it is answered with REFUSED_STREAM.
    var maxConcurrentStreams: Int
    /// SETTINGS_MAX_HEADER_LIST_SIZE, counted as RFC 9113 does: 32 bytes for each header more than its text.
    var maxHeaderListBytes = 8000
    var maxBodyBytes = 64 * 1024
    /// Whether a client must have chosen `h2` by ALPN.
    var requiresALPN = false
    /// Whether an answer's body is followed by an empty DATA frame that ends the stream, as Google's front end does.
    var endsWithEmptyData = false
    /// GOAWAY `session_timeout` after this long without a request.
    var idleTimeout: Duration?
    /// GOAWAY `max_age` at this age.
    var maxAge: Duration?
    /// GOAWAY `too_many_pings` at this many PINGs without a request in between.
    var maxPings: Int?
    /// The same answer to every request, which the handler then does not see; an `apns-id` is echoed.
    var fixedAnswer: H2Answer?
    /// Whether nghttp2's own limit on resets by the client holds: Debian 12's library ends a connection with GOAWAY
    /// after about 1000. libcurl 7.88.1 resets every finished stream, so it is off unless that is what is tested.
    var limitsResets = false
}

/// Decides what the server does. Called on the server's thread only.
protocol H2Handler: AnyObject, Sendable {
    func opened(connection: Int, listener: Int) -> H2ConnectionOptions
    func closed(connection: Int)
    /// Requests of one connection that completed together, in order of completion.
    func handle(_ requests: [H2Request]) -> [H2Action]
    /// `count` requests were given the fixed answer.
    func answeredFixed(listener: Int, count: Int)
}
