internal import CMicroHTTPD
private import Locking

/// One request and its answer.
final class Exchange: @unchecked Sendable {
    // Sendable: the variables are used on the library's thread only; what others touch is in `shared`.

    enum Phase {
        /// The request line has been read.
        case begun
        case reading(RequestHead, limit: Int)
        case running
        case answered
    }

    let target: String
    var phase = Phase.begun
    private(set) var body: [UInt8] = []
    /// Bytes of the body so far, also those that were not kept.
    private(set) var received = 0

    private struct Shared {
        /// The connection, from the start of the handler until there is an answer.
        var suspended: Suspended?
        var task: Task<Void, Never>?
        var answer: Response?
        var isGivenUp = false
    }

    private let shared = Locked(Shared())

    init(target: String) {
        self.target = target
    }

    // MARK: - The body

    func receive(_ bytes: UnsafeRawBufferPointer, limit: Int) {
        self.received += bytes.count
        if self.received <= limit { self.body.append(contentsOf: bytes) } else { self.body = [] }
    }

    func takeBody() -> [UInt8] {
        defer { self.body = [] }
        return self.body
    }

    // MARK: - The handler

    /// Suspends the connection and runs `respond` in a task of its own: requests come from outside, so there is no
    /// other task they could be children of. ``giveUp()`` ends it.
    func run(_ respond: @escaping @Sendable () async -> Response, on connection: OpaquePointer) {
        self.phase = .running
        MHD_suspend_connection(connection)
        let suspended = Suspended(connection: connection)
        self.shared.withLock { shared in
            guard !shared.isGivenUp else {
                // The server was stopped in this very moment.
                shared.answer = .stopping
                return suspended.resume()
            }
            shared.suspended = suspended
            shared.task = Task { self.answer(await respond()) }
        }
    }

    /// The first answer counts; a later one's stream is closed.
    private func answer(_ response: Response) {
        let isLate = self.shared.withLock { shared in
            shared.task = nil
            guard let suspended = shared.suspended else { return true }
            shared.answer = response
            shared.suspended = nil
            suspended.resume()
            return false
        }
        if isLate, case .events(let stream) = response.body { stream.close() }
    }

    /// Answers in the handler's place, and cancels it.
    func giveUp() {
        let task = self.shared.withLock { shared in
            shared.isGivenUp = true
            return shared.task
        }
        self.answer(.tooLate)
        task?.cancel()
    }

    func takeAnswer() -> Response? {
        self.shared.withLock { shared in
            defer { shared.answer = nil }
            return shared.answer
        }
    }
}

extension Response {
    private static func failure(_ status: Int, _ text: String, _ headers: [RequestHead.Item] = []) -> Response {
        Response(status: status, text: text + "\n", headers: headers)
    }

    static let badRequest = failure(400, "The request is malformed.")
    static let badTarget = failure(400, "The address of the request is malformed.")
    static let badFraming = failure(400, "The length of the body is told in more than one way.")
    static let methodNotAllowed = failure(
        405, "Only GET, HEAD and POST.", [RequestHead.Item("Allow", "GET, HEAD, POST")])
    static let notImplemented = failure(501, "There is no such method.")
    static let tooLarge = failure(413, "The body is too large.")
    static let tooLate = failure(503, "This takes too long; try again.", [RequestHead.Item("Retry-After", "5")])
    static let stopping = failure(503, "The server is stopping.", [RequestHead.Item("Retry-After", "5")])
}
