import HTTPServer

/// Whether a webhook's request has the secret: from its headers alone, before the body is read.
struct WebhookGate: Sendable {
    let secret: Secret

    /// Supabase's webhooks are not signed: what is called a signature is a shared secret, too.
    private static let signature = "x-supabase-event-signature"

    /// `Authorization: Bearer <secret>`, or `X-Supabase-Event-Signature: <secret>`. Each at most once; where both are
    /// there, both must be right.
    func admits(_ head: RequestHead) -> Bool {
        let signatures = head.values(Self.signature)
        guard signatures.count <= 1 else { return false }
        let signatureMatches = signatures.first.map(self.secret.matches)
        switch BearerToken.read(head) {
        case .malformed: return false
        case .token(let token): return self.secret.matches(token) && signatureMatches != false
        case .none: return signatureMatches == true
        }
    }
}
