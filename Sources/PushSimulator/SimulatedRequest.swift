/// One request as the validators see it: no connection, no clock.
package struct SimulatedRequest: Sendable {
    package var method: String
    package var path: String
    package var authority: String?
    /// In order of arrival, names in lower case, without the pseudo-headers.
    package var headers: [(name: String, value: String)]
    /// What was kept of the body; see ``bodyCount``.
    package var body: [UInt8]
    /// What the client sent, also beyond what was kept.
    package var bodyCount: Int
    /// The header list was over the advertised size and is not complete here.
    package var headersTooLarge: Bool

    package init(
        method: String = "POST", path: String, authority: String? = "127.0.0.1",
        headers: [(name: String, value: String)], body: [UInt8], bodyCount: Int? = nil, headersTooLarge: Bool = false
    ) {
        self.method = method
        self.path = path
        self.authority = authority
        self.headers = headers
        self.body = body
        self.bodyCount = bodyCount ?? body.count
        self.headersTooLarge = headersTooLarge
    }

    /// The first header of that name.
    package func header(_ name: String) -> String? {
        self.headers.first { $0.name == name }?.value
    }

    /// The token of `authorization: bearer x`, any case of the scheme; nil without one.
    var bearerToken: String? {
        guard let value = self.header("authorization"), value.utf8.count > 7,
            value.prefix(7).lowercased() == "bearer "
        else { return nil }
        return String(value.dropFirst(7))
    }
}

/// What a provider says to one request.
package struct SimulatedAnswer: Equatable, Sendable {
    package var status: Int
    /// The provider's word for a refusal, or `Simulator: …` where the simulator is stricter than the provider.
    package var reason: String?
    package var headers: [H2Header]
    package var body: [UInt8]
    /// Accepted, but surely not what was meant; shown and recorded.
    package var warning: String?

    package init(
        status: Int, reason: String? = nil, headers: [H2Header] = [], body: [UInt8] = [], warning: String? = nil
    ) {
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
        self.warning = warning
    }

    /// What stands before a reason that is the simulator's own and not a provider's word.
    package static let ownReasonPrefix = "Simulator: "
}
