import HTTPServer
import TestSupport
import Testing

/// A handler made of closures.
struct TestHandler: RequestHandler {
    var admitting: @Sendable (RequestHead) -> Admission = { _ in .read(limit: 1000) }
    var responding: @Sendable (Request) async -> Response = { request in
        Response(
            status: 200,
            text: "\(request.head.method) \(request.head.path) \(request.head.query.map { "\($0.name)=\($0.value)" }) "
                + String(decoding: request.body, as: UTF8.self))
    }

    func admit(_ head: RequestHead) -> Admission { self.admitting(head) }
    func respond(to request: Request) async -> Response { await self.responding(request) }
}

/// A server on a port of its own, for the time `body` runs.
func serving(
    _ handler: TestHandler = TestHandler(), stopLimit: Duration = .seconds(5),
    configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (HTTPServer) async throws -> Void
) async throws {
    DescriptorLimit.raise()
    var configuration = ServerConfiguration(address: try #require(ListenAddress("127.0.0.1:0")))
    configure(&configuration)
    let server = try HTTPServer.start(configuration, handler: handler)
    do {
        try await body(server)
        await server.stop(within: stopLimit)
    } catch {
        await server.stop(within: .zero)
        throw error
    }
}

/// Sends a text on a new connection and takes the first answer.
func ask(_ server: HTTPServer, _ text: String) async throws -> Answer {
    let client = try RawClient(port: server.port)
    client.send(text)
    return try await client.answer()
}
