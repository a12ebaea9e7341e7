import FoundationEssentials
import PushModel
import TestSupport
import Testing

/// A worker that serves, as its clients see it.
struct ServedWorker: Sendable {
    static let token = "operator-token-of-this-test"
    static let secret = "webhook-secret-of-this-test"

    let process: ChildProcess
    let port: UInt16

    static func start(_ installation: Installation, _ others: [String: String] = [:]) async throws -> ServedWorker {
        let settings = ["PUSH_OPERATOR_TOKEN": Self.token, "PUSH_WEBHOOK_SECRET": Self.secret]
        let process = try await installation.startWorker(settings.merging(others) { $1 })
        return ServedWorker(process: process, port: try await ServingProcessTests.port(of: process))
    }

    /// With the operator's token.
    func get(_ path: String) async throws -> Answer {
        try await self.ask("GET \(path) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(Self.token)\r\n\r\n")
    }

    func ask(_ request: String) async throws -> Answer {
        let client = try RawClient(port: self.port)
        client.send(request)
        return try await client.answer(within: .seconds(60))
    }

    /// As Supabase's database webhooks send it.
    func webhook(_ type: String, _ id: UUID, readAt: String? = nil) async throws -> Answer {
        let body = Self.body(type, id, readAt: readAt)
        return try await self.ask(
            """
            POST /webhooks/notifications HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(Self.secret)\r\n\
            Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)
            """)
    }

    static func body(_ type: String, _ id: UUID, readAt: String? = nil) -> String {
        let read = readAt.map { "\"\($0)\"" } ?? "null"
        let row = #"{"id":"\#(id.text)","kind":"invitation_received","read_at":\#(read)}"#
        let (record, old) = type == "DELETE" ? ("null", row) : (row, type == "UPDATE" ? row : "null")
        return
            #"{"type":"\#(type)","table":"notifications","schema":"public","record":\#(record),"old_record":\#(old)}"#
    }
}
