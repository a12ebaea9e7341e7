/// A request that APNs turns down: status and reason of `protocol.md`, table F.2.
struct APNSRefusal: Error, Equatable {
    var status: Int
    var reason: String
    /// Milliseconds since 1970, with 410 only.
    var timestamp: Int?

    init(_ status: Int, _ reason: String, timestamp: Int? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
    }

    /// What the product must not send. Not a word of Apple's.
    static func own(_ reason: String) -> APNSRefusal {
        APNSRefusal(400, SimulatedAnswer.ownReasonPrefix + reason)
    }

    /// The body: `{"reason":"X"}`, for 410 with the timestamp.
    var body: [UInt8] {
        let timestamp = self.timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\(OrderedJSON.quoted(self.reason))\(timestamp)}".utf8)
    }
}
