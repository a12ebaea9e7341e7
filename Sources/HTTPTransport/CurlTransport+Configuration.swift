extension CurlTransport {
    /// How the connections to one host behave.
    ///
    /// One transport serves one host under one credential: an APNs host, FCM, or the token endpoint. APNs binds a
    /// connection to the first team it sees, so two keys need two transports.
    package struct Configuration: Sendable {
        /// Most connections in use at once. A second one opens only when the first has no room; connections that
        /// are being retired come on top while they finish what they have. Default 2.
        package var connections = 2
        /// Most requests in flight on one connection; the server's own limit holds as well. Default 500, which suits
        /// APNs; FCM was seen to end connections with more than 100. Where bodies in flight exceed the server's
        /// receive window (65 535 bytes at first, some 250 pushes), libcurl turns in circles until it opens again.
        package var window = 500
        /// A fresh connection, or one that was quiet for `reprobeAfter`, sends one request and opens its window when
        /// that is answered (any status but 401 and 403). APNs allows one stream until it has seen a valid token.
        /// Otherwise the window opens as soon as the connection stands. Default off.
        package var probesFreshConnections = false
        /// A connection without requests for this long counts as fresh again, since it may have died unseen.
        /// Default 10 s.
        package var reprobeAfter: Duration = .seconds(10)
        /// From the hand-over to libcurl to the last byte of the answer; the time in this transport's own queue does
        /// not count. Default 30 s; FCM asks for 10 s at least.
        package var requestTimeout: Duration = .seconds(30)
        /// Name, TCP and TLS together. Default 10 s.
        package var connectTimeout: Duration = .seconds(10)
        /// A connection without requests for this long is closed. Default one hour, which APNs allows; FCM ends
        /// connections itself after 4 minutes.
        package var idleLimit: Duration = .seconds(3600)
        /// A connection of this age is retired: it finishes what it has, and another takes what comes after.
        /// Default 24 h; FCM ends connections itself after an hour, so 55 minutes there.
        package var lifetime: Duration = .seconds(24 * 3600)
        /// A connection is retired after so many requests. Default: no limit.
        package var requestsPerConnection: Int?
        /// A PEM file of the authorities to trust instead of the system's.
        package var caFile: String?
        /// Default `push-fanout`; nil sends no `user-agent`.
        package var userAgent: String? = "push-fanout"

        package init() {}
    }
}
