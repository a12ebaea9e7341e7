private import Locking

/// One call of `send`: where its exchanges go and how many are still to come.
final class SendCall: Sendable {
    private let continuation: AsyncStream<[HTTPExchange]>.Continuation
    private let outstanding: Locked<Int>

    init(count: Int, continuation: AsyncStream<[HTTPExchange]>.Continuation) {
        self.continuation = continuation
        self.outstanding = Locked(count)
    }

    func yield(_ exchanges: [HTTPExchange]) {
        self.continuation.yield(exchanges)
        // After the yield, so that the thread that counts down to zero finishes behind the others' last words.
        let left = self.outstanding.withLock { outstanding in
            outstanding -= exchanges.count
            return outstanding
        }
        if left == 0 { self.continuation.finish() }
    }
}

/// A request on its way.
struct PendingRequest: Sendable {
    let request: HTTPRequest
    let call: SendCall
    /// How many connections have had it.
    var placements = 0

    /// More often than this no connection kept it long enough to send it: given up as not sent.
    static let mostPlacements = 4
}

struct EndedRequest: Sendable {
    let call: SendCall
    let exchange: HTTPExchange
}

extension [EndedRequest] {
    /// Hands the exchanges over with one yield for each call they belong to.
    func deliver() {
        var rest = self[...]
        while let call = rest.first?.call {
            var exchanges: [HTTPExchange] = []
            var others: [EndedRequest] = []
            for ended in rest {
                if ended.call === call { exchanges.append(ended.exchange) } else { others.append(ended) }
            }
            call.yield(exchanges)
            rest = others[...]
        }
    }
}
