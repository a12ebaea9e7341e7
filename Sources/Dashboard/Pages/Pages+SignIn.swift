extension Pages {
    /// Why the page to sign in is shown.
    package enum SignInState: Equatable, Sendable {
        case fresh
        case wrongToken
        /// Too many wrong tokens from this address.
        case rateLimited(seconds: Int)
        case sessionEnded
        /// Neither token is set, so nobody can sign in.
        case notConfigured
    }

    /// - Parameter next: where to go afterwards, sent along as the field `next`; the server checks it anew.
    package static func signIn(_ state: SignInState, next: String? = nil, _ context: PageContext) -> HTML {
        let layout = Layout(title: "Sign in", isNarrow: true)
        guard state != .notConfigured else {
            return layout.page(
                context,
                """
                <section class="box">
                <h2>No token is set</h2>
                <p>These pages are closed until the worker is started with one:</p>
                <pre>PUSH_OPERATOR_TOKEN=$(openssl rand -hex 24)   # may look and act
                PUSH_VIEWER_TOKEN=$(openssl rand -hex 24)     # may look</pre>
                <p>Each can be put in a file too, named by PUSH_OPERATOR_TOKEN_FILE and PUSH_VIEWER_TOKEN_FILE.</p>
                </section>

                """)
        }
        var message: HTML?
        var isRefused = false
        switch state {
        case .fresh, .notConfigured: message = nil
        case .wrongToken:
            message = "That token is neither the operator’s nor the viewer’s."
            isRefused = true
        case .rateLimited(let seconds):
            message = "Too many wrong tokens. Try again in \(Format.duration(seconds: Double(max(1, seconds))))."
            isRefused = true
        case .sessionEnded: message = "Your session has ended. Please sign in again."
        }
        let described: HTML = message == nil ? "token-hint" : "token-message token-hint"
        return layout.page(
            context,
            """
            <section class="box">
            <form method="post" action="\(Route.signIn)">\(ActionForm.csrf(context))\(HTML.when(next != nil, ActionForm.hidden([("next", next ?? "")])))
            \(message.map { "<p id=\"token-message\" role=\"alert\" class=\"\(isRefused ? "fault" : "quiet")\">\($0)</p>\n" as HTML })\
            <label for="token">Token</label>
            <input id="token" name="token" type="password" autocomplete="current-password" required autofocus \
            aria-describedby="\(described)"\(HTML.when(state == .wrongToken, #" aria-invalid="true""#))>
            <p id="token-hint" class="quiet">The value of PUSH_OPERATOR_TOKEN to act, of PUSH_VIEWER_TOKEN to look.</p>
            <div class="actions"><button>Sign in</button></div>
            </form>
            </section>

            """)
    }
}
