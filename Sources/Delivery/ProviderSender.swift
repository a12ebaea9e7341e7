package import PushModel

/// Sends deliveries to one endpoint and reads the answers; knows nothing of the queue.
package protocol ProviderSender: Sendable {
    /// Sends each delivery once and calls `report` with the results as they come, several at a time where they end
    /// together. Returns when each has one. A cancelled call returns early: what has no result by then may have been
    /// sent or not.
    func send(_ deliveries: [Delivery], report: ([SendResult]) -> Void) async

    /// For gauges.
    var condition: SenderCondition { get }
}

extension ProviderSender {
    package var condition: SenderCondition { SenderCondition() }
}

/// What one send came to.
package struct SendResult: Sendable {
    /// The position in the array handed over.
    package var index: Int
    package var outcome: SendOutcome
    /// HTTP status, if there was an answer.
    package var status: Int?
    /// Nil when nothing was sent.
    package var duration: Duration?
    /// What the answer's `Retry-After` asks for.
    package var retryAfter: Duration?

    package init(
        index: Int, outcome: SendOutcome, status: Int?, duration: Duration?, retryAfter: Duration? = nil
    ) {
        self.index = index
        self.outcome = outcome
        self.status = status
        self.duration = duration
        self.retryAfter = retryAfter
    }
}
