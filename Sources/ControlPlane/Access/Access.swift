import Dashboard
import HTTPServer

/// Who asks, as far as a request's head tells.
struct Caller: Sendable {
    enum Proof: Sendable {
        /// Signed in; what they send has to carry the session's CSRF token.
        case session(OperatorSession, id: String)
        /// A token in a header, which no page of somebody else's can make a browser send.
        case bearer
    }

    var role: PageContext.Role
    var proof: Proof
    var address: String

    /// As in the audit: `dashboard:operator@10.0.0.7`.
    var actor: String {
        switch self.proof {
        case .session: "dashboard:\(self.role.rawValue)@\(self.address)"
        case .bearer: "api:\(self.role.rawValue)@\(self.address)"
        }
    }

    var csrfToken: String {
        if case .session(let session, _) = self.proof { session.csrfToken } else { "" }
    }
}

/// Decides who may do what: two tokens, sessions, and a limit on wrong tokens.
struct Access: Sendable {
    enum Verdict: Sendable {
        case caller(Caller)
        /// Neither a session nor a token.
        case anonymous
        /// A cookie of a session that is over.
        case sessionOver
        /// A token that is none of ours.
        case wrongToken
        case limited(Duration)
    }

    static let cookieName = "push_fanout_session"

    let operatorToken: Secret?
    let viewerToken: Secret?
    let sessions = Sessions()
    let limiter = AttemptLimiter()

    /// The role of a token, nil for any other. Both are compared, whatever the first says.
    func role(of token: String) -> PageContext.Role? {
        let isOperator = self.operatorToken?.matches(token) ?? false
        let isViewer = self.viewerToken?.matches(token) ?? false
        return isOperator ? .operator : isViewer ? .viewer : nil
    }

    /// - Parameter isUse: whether the request counts as a sign of life of its session.
    func identify(_ head: RequestHead, isUse: Bool = true) -> Verdict {
        let address = ClientAddress.of(head)
        switch BearerToken.read(head) {
        case .token(let token):
            if let role = self.role(of: token) {
                return .caller(Caller(role: role, proof: .bearer, address: address))
            }
            let wait = self.limiter.wait(for: address)
            self.limiter.failed(address)
            return wait.map(Verdict.limited) ?? .wrongToken
        case .malformed: return .wrongToken
        case .none: break
        }
        let ids = head.cookies(Self.cookieName)
        guard let id = ids.first, ids.count == 1, !id.isEmpty else { return .anonymous }
        guard let session = self.sessions.session(id, isUse: isUse) else { return .sessionOver }
        return .caller(Caller(role: session.role, proof: .session(session, id: id), address: address))
    }
}

/// Where a request comes from.
enum ClientAddress {
    /// The peer; behind a proxy on this machine, what it says in the last `X-Forwarded-For`. Anybody else could write
    /// what they like there.
    static func of(_ head: RequestHead) -> String {
        guard head.remoteAddress.hasPrefix("127.") || head.remoteAddress == "::1",
            let last = head.values("x-forwarded-for").last?.split(separator: ",").last
        else { return head.remoteAddress }
        let text = last.drop { $0 == " " }.prefix { $0 != " " }
        let isAddress =
            (2...45).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x3A).contains(byte) || byte == 0x2E || (0x61...0x66).contains(byte | 0x20)
            }
        return isAddress ? String(text) : head.remoteAddress
    }
}
