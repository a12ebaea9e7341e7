/// A count that is not taken further than ``most``: counting more would cost the database more than it tells.
package struct CappedCount: Hashable, Sendable, CustomStringConvertible {
    package static let most = 10_000

    /// At most ``most``.
    package let value: Int
    /// Whether there are, or may be, more than ``value``.
    package let isCapped: Bool

    /// - Parameters:
    ///   - counted: what a query with `limit 10001` counted.
    ///   - stoppedEarly: whether it gave up before it had looked at every row.
    package init(counted: Int, stoppedEarly: Bool = false) {
        self.value = min(max(counted, 0), Self.most)
        self.isCapped = counted > Self.most || stoppedEarly
    }

    /// `417`, `417+`, `10,000+`.
    package var description: String {
        let more = self.isCapped ? "+" : ""
        guard self.value >= 1000 else { return "\(self.value)" + more }
        let rest = String(self.value % 1000)
        return "\(self.value / 1000)," + String(repeating: "0", count: 3 - rest.count) + rest + more
    }
}
