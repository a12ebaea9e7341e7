package import HTTPTransport

/// What a sender's connections and its token are like just now, for gauges.
package struct SenderCondition: Sendable {
    package var transport = TransportStatistics()
    /// Nil while there is no token.
    package var tokenAge: Duration?

    package init(transport: TransportStatistics = TransportStatistics(), tokenAge: Duration? = nil) {
        self.transport = transport
        self.tokenAge = tokenAge
    }
}
