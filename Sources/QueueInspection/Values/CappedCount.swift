/// A count that is not taken further than ``most``: counting more would cost the database more than it tells.
package struct CappedCount: Hashable, Sendable, CustomStringConvertible {
    package static let most = 10_000

    /// At most ``most``.
    package let value: Int
    /// Whether there are more than ``value``.
    package let isCapped: Bool

    /// - Parameter counted: what a query with `limit 10001` counted.
    package init(counted: Int) {
        self.value = min(max(counted, 0), Self.most)
        self.isCapped = counted > Self.most
    }

    /// `417`, `10,000+`.
    package var description: String {
        guard self.value >= 1000 else { return "\(self.value)" }
        let rest = String(self.value % 1000)
        let grouped = "\(self.value / 1000)," + String(repeating: "0", count: 3 - rest.count) + rest
        return self.isCapped ? grouped + "+" : grouped
    }
}
