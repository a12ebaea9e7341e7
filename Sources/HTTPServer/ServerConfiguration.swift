/// Where a server listens, and what it puts up with.
package struct ServerConfiguration: Sendable {
    package var address: ListenAddress
    /// The most connections at once; those beyond it wait in the listen queue. Never more than half the descriptors the
    /// process may open. Default 2048.
    package var connectionLimit = 2048
    /// The most from one address. A reverse proxy is one address, so not far below the whole. Default 1536.
    package var connectionLimitPerAddress = 1536
    /// How long a connection may be silent. Default 15 s.
    package var idleLimit: Duration = .seconds(15)
    /// How long a request may take to arrive, however busily it trickles. Default 10 s.
    package var requestLimit: Duration = .seconds(10)
    /// How long a handler may take; then 503 is answered in its place and its task cancelled. Default 15 s.
    package var handlerLimit: Duration = .seconds(15)
    /// How long an answer may take to be read. Event streams have no such limit. Default 30 s.
    package var answerLimit: Duration = .seconds(30)
    /// The most bytes of a request's head, about; more is answered with 431, or 414 for the request line. Default 16 KiB.
    package var headLimit = 16 * 1024
    /// How often a silent event stream sends a comment. Default 15 s.
    package var keepAliveInterval: Duration = .seconds(15)

    package init(address: ListenAddress) {
        self.address = address
    }
}

/// What a server has done and is doing.
package struct ServerStatistics: Hashable, Sendable {
    package var connections = 0
    package var eventStreams = 0
    /// Handlers at work.
    package var running = 0
    /// Requests whose head was read, since the start.
    package var requests = 0
    /// Connections cut off because they took too long, since the start.
    package var cutOff = 0
}
