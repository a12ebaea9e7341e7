internal import CMicroHTTPD

/// What the library's callbacks work with. They run on its one thread and never wait.
final class Daemon: Sendable {
    let handler: any RequestHandler
    let connections: Connections

    /// Of a body that is too large, so much is read on for the answer to get through; then the connection is cut.
    private static let tolerance = 256 * 1024
    private static let refusedMethods: Set<String> = ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"]

    init(handler: any RequestHandler, connections: Connections) {
        self.handler = handler
        self.connections = connections
    }

    static func id(_ connection: OpaquePointer) -> Int {
        Int(bitPattern: microhttpd_socket_context(connection))
    }

    // MARK: - A request's steps

    func step(
        _ exchange: Exchange, _ connection: OpaquePointer, method: String, chunk: UnsafeRawBufferPointer
    ) -> MHD_Result {
        switch exchange.phase {
        case .begun:
            return self.admit(exchange, connection, method: method)
        case .reading(let head, let limit):
            if chunk.count > 0 {
                exchange.receive(chunk, limit: limit)
                // A refused connection is closed by the library.
                return exchange.received > limit + Self.tolerance ? .NO : .YES
            }
            guard exchange.received <= limit else { return self.send(.tooLarge, for: exchange, on: connection) }
            guard self.connections.handles(Self.id(connection), exchange) else {
                return self.send(.stopping, for: exchange, on: connection)
            }
            let request = Request(head: head, body: exchange.takeBody())
            let handler = self.handler
            exchange.run({ await handler.respond(to: request) }, on: connection)
            return .YES
        case .running:
            // Called again because the connection was resumed; what is there without an answer would be ours to mend.
            return self.send(exchange.takeAnswer() ?? .tooLate, for: exchange, on: connection)
        case .answered:
            return .YES
        }
    }

    private func admit(_ exchange: Exchange, _ connection: OpaquePointer, method: String) -> MHD_Result {
        guard let method = RequestHead.Method(rawValue: method) else {
            let isKnown = Self.refusedMethods.contains(method)
            return self.send(isKnown ? .methodNotAllowed : .notImplemented, for: exchange, on: connection)
        }
        guard let target = RequestTarget(exchange.target) else {
            return self.send(.badTarget, for: exchange, on: connection)
        }
        guard let headers = HeaderReader.headers(of: connection) else {
            return self.send(.badRequest, for: exchange, on: connection)
        }
        let head = RequestHead(
            method: method, path: target.path, query: target.query, headers: headers,
            remoteAddress: ListenAddress.text(of: microhttpd_peer(connection)))
        let lengths = head.values("content-length")
        let codings = head.values("transfer-encoding")
        // Two ways to tell where a body ends are two requests to whoever stands between.
        guard lengths.count + codings.count <= 1 else { return self.send(.badFraming, for: exchange, on: connection) }
        guard !self.connections.isStopping else { return self.send(.stopping, for: exchange, on: connection) }
        switch self.handler.admit(head) {
        case .answer(let response):
            return self.send(response, for: exchange, on: connection)
        case .read(let limit):
            if let length = lengths.first.flatMap({ Int($0) }), length > limit {
                return self.send(.tooLarge, for: exchange, on: connection)
            }
            exchange.phase = .reading(head, limit: limit)
            return .YES
        }
    }

    private func send(_ response: Response, for exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
        exchange.phase = .answered
        let stream: EventStream? = if case .events(let stream) = response.body { stream } else { nil }
        guard let prepared = PreparedResponse(response, connection) else {
            stream?.close()
            return .NO
        }
        self.connections.answers(Self.id(connection), with: stream)
        return prepared.queue(on: connection)
    }

    func completed(_ connection: OpaquePointer) {
        self.connections.completed(Self.id(connection))
    }
}
