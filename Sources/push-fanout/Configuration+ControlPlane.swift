import ControlPlane
import HTTPServer

extension Configuration {
    /// Where to serve, and to whom.
    struct Serving: Sendable {
        var address: ListenAddress
        var webhookSecret: Secret?
        var operatorToken: Secret?
        var viewerToken: Secret?
    }

    /// Nil when PUSH_LISTEN is `off`.
    ///
    /// Tokens that guard nothing are refused rather than accepted: too short ones, one that is both roles', and an
    /// address that others reach without the operator's.
    func serving() throws(ConfigurationError) -> Serving? {
        let text = try self.values.text(.listen) ?? ""
        guard text != "off" else { return nil }
        guard let address = ListenAddress(text) else {
            throw ConfigurationError(
                .listen, "must be a numeric address and a port, or off", example: Setting.listen.defaultText ?? "off")
        }
        let serving = Serving(
            address: address, webhookSecret: try self.secret(.webhookSecret),
            operatorToken: try self.secret(.operatorToken), viewerToken: try self.secret(.viewerToken))
        if let viewer = serving.viewerToken, serving.operatorToken?.matches(viewer) == true {
            throw ConfigurationError(
                "PUSH_VIEWER_TOKEN is the same as PUSH_OPERATOR_TOKEN: whoever may look could act; make another with "
                    + "openssl rand -hex 24")
        }
        guard address.isLoopback || serving.operatorToken != nil else {
            throw ConfigurationError(
                "PUSH_LISTEN=\(address) can be reached from elsewhere, and PUSH_OPERATOR_TOKEN is not set: set it "
                    + "(openssl rand -hex 24), or listen on \(Setting.listen.defaultText ?? "127.0.0.1")")
        }
        return serving
    }

    private func secret(_ setting: Setting) throws(ConfigurationError) -> Secret? {
        guard let text = try self.values.text(setting)?.trimmed, !text.isEmpty else { return nil }
        guard text.utf8.count >= Secret.shortest, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw ConfigurationError(
                setting, "must be at least \(Secret.shortest) characters, without spaces, all ASCII",
                example: "\"$(openssl rand -hex 24)\"")
        }
        return Secret(text)
    }
}
