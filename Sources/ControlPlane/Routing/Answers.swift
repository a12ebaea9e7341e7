import Delivery
import HTTPServer
import QueueInspection

/// Answers that several places give.
enum Answers {
    static func json(_ value: JSONNode, status: Int = 200, headers: [RequestHead.Item] = []) -> Response {
        Response(status: status, text: value.description + "\n", contentType: "application/json", headers: headers)
    }

    /// As every error of the API and the webhook looks.
    static func error(_ status: Int, _ message: String, headers: [RequestHead.Item] = []) -> Response {
        self.json(.object([("error", .text(message))]), status: status, headers: headers)
    }

    static func redirect(to address: String, headers: [RequestHead.Item] = []) -> Response {
        Response(status: 303, headers: [.init("Location", address)] + headers)
    }

    static func html(_ text: String, status: Int = 200, headers: [RequestHead.Item] = []) -> Response {
        Response(status: status, text: text, contentType: "text/html; charset=utf-8", headers: headers)
    }

    static func allow(_ methods: [RequestHead.Method]) -> RequestHead.Item {
        .init("Allow", methods.map(\.rawValue).joined(separator: ", "))
    }

    static func retryAfter(_ wait: Duration) -> RequestHead.Item {
        .init("Retry-After", "\(max(1, wait.components.seconds))")
    }

    // MARK: - Health

    /// Whether the loops go round; a restart helps where they do not.
    static func liveness(_ status: WorkerStatus) -> Response {
        guard let stuck = status.stuck else { return Response(status: 200, text: "alive\n") }
        return Response(status: 503, text: "stuck: \(stuck)\n")
    }

    /// Whether work gets done, with every dependency in a line.
    ///
    /// - Parameter detailed: with reasons and remedies, which may name hosts: not for everybody.
    static func readiness(_ status: WorkerStatus, head: RequestHead, detailed: Bool) -> Response {
        let code = status.isReady ? 200 : 503
        guard !head.values("accept").contains(where: { $0.contains("application/json") }) else {
            let dependencies = status.dependencies.map { dependency -> JSONNode in
                var members: [(name: String, value: JSONNode)] = [
                    ("name", .text(dependency.name.text)), ("state", .text(dependency.state.name)),
                ]
                if detailed {
                    members += [
                        ("since", .moment(dependency.since)), ("reason", .text(dependency.reason)),
                        ("fix", .optional(dependency.fix)),
                    ]
                }
                return .object(members)
            }
            return self.json(
                .object([("ready", .bool(status.isReady)), ("dependencies", .array(dependencies))]), status: code)
        }
        let lines = status.dependencies.map { dependency -> String in
            let line = "\(dependency.state.name) \(dependency.name.text)"
            guard detailed else { return line }
            let fix = dependency.state == .ok ? nil : dependency.fix
            return line + ": \(dependency.reason)" + (fix.map { " (\($0))" } ?? "")
        }
        let text = (["\(status.isReady ? "ready" : "not ready")"] + lines).joined(separator: "\n") + "\n"
        return Response(status: code, text: text)
    }
}
