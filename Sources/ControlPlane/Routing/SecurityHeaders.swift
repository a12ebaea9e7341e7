import HTTPServer

/// Headers of every answer.
enum SecurityHeaders {
    /// Nothing but our own style, script and pictures; no inline script or style; in no frame.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static let always: [RequestHead.Item] = [
        .init("Content-Security-Policy", policy), .init("X-Content-Type-Options", "nosniff"),
        .init("X-Frame-Options", "DENY"),
        // Not `no-referrer`: with that, browsers send forms with `Origin: null`.
        .init("Referrer-Policy", "same-origin"), .init("Cross-Origin-Opener-Policy", "same-origin"),
        .init("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// What is not said to be kept is not kept: pages show what is theirs to show who is signed in.
    static func apply(to response: Response) -> Response {
        var response = response
        response.headers += self.always
        if !response.headers.contains(where: { $0.name == "Cache-Control" }) {
            response.headers.append(.init("Cache-Control", "no-store"))
        }
        return response
    }
}
