import Dashboard
import Delivery
import HTTPServer
import Observability
import QueueInspection

/// Every request's way: what it is for, who may, and who answers.
struct ControlHandler: RequestHandler {
    let configuration: ControlPlaneConfiguration
    let access: Access
    let gate: WebhookGate?
    let intake: WebhookIntake
    let pages: PageResponder
    let forms: FormResponder
    let api: APIResponder
    let live: LiveEvents

    init(
        _ configuration: ControlPlaneConfiguration, queue: QueueAccess, sessions: ControlSessions, live: LiveEvents,
        bulk: BulkRunner
    ) {
        self.configuration = configuration
        let access = Access(operatorToken: configuration.operatorToken, viewerToken: configuration.viewerToken)
        self.access = access
        self.gate = configuration.webhookSecret.map(WebhookGate.init)
        self.intake = WebhookIntake(
            statements: WebhookStatements(source: configuration.source), session: sessions.webhook,
            wake: configuration.wake, log: configuration.log)
        let actions = ActionRunner(queue: queue, bulk: bulk, wake: configuration.wake)
        self.pages = PageResponder(
            queue: queue, access: access, isClosed: configuration.isClosed, languages: configuration.languages,
            rebuilder: RequestRebuilder(
                identity: configuration.identity, queue: queue, languages: configuration.languages,
                lifetime: configuration.lifetime))
        self.forms = FormResponder(access: access, actions: actions, pages: self.pages, log: configuration.log)
        self.api = APIResponder(queue: queue, actions: actions)
        self.live = live
    }

    // MARK: - From the head alone

    func admit(_ head: RequestHead) -> Admission {
        guard let destination = Destination(path: head.path) else {
            return .answer(self.finish(self.pages.error(404, nil), .unknown))
        }
        guard destination.methods.contains(head.method) else {
            if destination == .webhook { self.configuration.metrics.countWebhook(.malformed) }
            return .answer(self.finish(self.wrongMethod(destination), destination.route))
        }
        if let refusal = self.refusal(destination, head) {
            return .answer(self.finish(refusal, destination.route))
        }
        return .read(limit: destination.bodyLimit)
    }

    /// Why a request is not served; nil when it is.
    private func refusal(_ destination: Destination, _ head: RequestHead) -> Response? {
        switch destination {
        case .liveness, .readiness, .asset: nil
        case .webhook: self.webhookRefusal(head, limit: destination.bodyLimit)
        case .metrics: self.mayReadMetrics(head) ? nil : self.unauthorized("metrics need a token on this address")
        case .signIn:
            head.method != .post || CrossSite.mayBeOurs(head) ? nil : self.pages.error(403, nil)
        case .signOut, .page, .action: self.pageRefusal(destination, head)
        case .events, .api: self.programRefusal(destination, head)
        }
    }

    private func webhookRefusal(_ head: RequestHead, limit: Int) -> Response? {
        guard let gate = self.gate else {
            return Answers.error(404, "the webhook is off: set PUSH_WEBHOOK_SECRET to turn it on")
        }
        guard gate.admits(head) else {
            self.configuration.metrics.countWebhook(.unauthorized)
            return self.unauthorized("the secret is missing or wrong")
        }
        if let length = head.value("content-length").flatMap({ Int($0) }), length > limit {
            self.configuration.metrics.countWebhook(.malformed)
            return Answers.error(413, "the body is larger than \(limit) bytes")
        }
        return nil
    }

    private func mayReadMetrics(_ head: RequestHead) -> Bool {
        if self.configuration.address.isLoopback { return true }
        if case .caller = self.access.identify(head) { return true }
        return false
    }

    private func pageRefusal(_ destination: Destination, _ head: RequestHead) -> Response? {
        switch self.access.identify(head) {
        case .caller(let caller):
            guard head.method == .post else { return nil }
            guard CrossSite.mayBeOurs(head) else { return self.pages.error(403, caller) }
            guard destination == .signOut || caller.role == .operator else { return self.pages.error(403, caller) }
            return nil
        case .limited(let wait):
            return self.pages.error(429, nil, headers: [Answers.retryAfter(wait)])
        case .anonymous, .sessionOver, .wrongToken:
            guard head.method != .post else { return self.pages.error(403, nil) }
            return self.pages.toSignIn(from: head)
        }
    }

    private func programRefusal(_ destination: Destination, _ head: RequestHead) -> Response? {
        switch self.access.identify(head, isUse: destination.isAPI) {
        case .caller(let caller):
            guard head.method == .post else { return nil }
            guard caller.role == .operator else { return Answers.error(403, "this takes the operator's token") }
            // A browser sends its cookie along with whatever any page asks for; only our own can name the token.
            if case .session(let session, _) = caller.proof {
                let tokens = head.values("x-csrf-token")
                guard CrossSite.mayBeOurs(head), tokens.count == 1, Secret(session.csrfToken).matches(tokens[0]) else {
                    return Answers.error(403, "the header X-CSRF-Token is missing or wrong")
                }
            }
            return nil
        case .limited(let wait):
            return Answers.error(429, "too many wrong tokens", headers: [Answers.retryAfter(wait)])
        case .wrongToken: return self.unauthorized("the token is wrong")
        case .anonymous, .sessionOver:
            return self.unauthorized(
                self.configuration.isClosed
                    ? "closed: set PUSH_OPERATOR_TOKEN or PUSH_VIEWER_TOKEN" : "send Authorization: Bearer <token>")
        }
    }

    private func unauthorized(_ message: String) -> Response {
        Answers.error(401, message, headers: [.init("WWW-Authenticate", "Bearer")])
    }

    private func wrongMethod(_ destination: Destination) -> Response {
        let allow = Answers.allow(destination.methods)
        switch destination {
        case .page, .action, .signIn, .signOut: return self.pages.error(405, nil, headers: [allow])
        default: return Answers.error(405, "this address takes \(allow.value)", headers: [allow])
        }
    }

    // MARK: - With the body

    func respond(to request: Request) async -> Response {
        let start = ContinuousClock.now
        guard let destination = Destination(path: request.head.path) else {
            return self.finish(self.pages.error(404, nil), .unknown)
        }
        let response = await self.response(destination, request)
        return self.finish(response, destination.route, since: start)
    }

    private func response(_ destination: Destination, _ request: Request) async -> Response {
        let head = request.head
        switch destination {
        case .webhook: return await self.webhook(request.body)
        case .liveness: return Answers.liveness(self.configuration.status())
        case .readiness:
            let detailed = self.mayReadMetrics(head)
            return Answers.readiness(self.configuration.status(), head: head, detailed: detailed)
        case .metrics:
            return Response(
                status: 200, text: self.configuration.metrics.text(), contentType: MetricsRegistry.contentType)
        case .asset(let name): return AssetResponder.response(name, head)
        case .signIn:
            return head.method == .post ? self.forms.signIn(request) : self.pages.signInPage(head)
        case .signOut, .page, .action, .events, .api: break
        }
        // Anew: the session may have ended while the body came.
        guard case .caller(let caller) = self.access.identify(head, isUse: false) else {
            return destination.isAPI ? self.unauthorized("the session is over") : self.pages.error(403, nil)
        }
        switch destination {
        case .signOut: return self.forms.signOut(request, caller)
        case .page(let page): return await self.pages.page(page, head, caller)
        case .action(let action): return await self.forms.act(action, request, caller)
        case .events: return self.live.open(head, caller) { self.access.identify($0, isUse: false) }
        case .api(let call): return await self.api.response(call, request, caller)
        default: return self.pages.error(404, nil)
        }
    }

    private func webhook(_ bytes: [UInt8]) async -> Response {
        let body: WebhookBody
        do throws(WebhookBody.Malformed) {
            body = try WebhookBody(bytes, source: self.configuration.source)
        } catch {
            self.configuration.metrics.countWebhook(.malformed)
            return Answers.error(400, error.description)
        }
        let result = await self.intake.take(body)
        self.configuration.metrics.countWebhook(result)
        switch result {
        case .ignored: return Answers.json(.object([("result", .text(result.rawValue))]))
        case .unavailable:
            return Answers.error(
                503, "the database did not take it; the sweep will find the row", headers: [.init("Retry-After", "5")])
        default: return Answers.json(.object([("result", .text(result.rawValue))]), status: 202)
        }
    }

    private func finish(
        _ response: Response, _ route: HTTPRoute, since start: ContinuousClock.Instant = .now
    ) -> Response {
        self.configuration.metrics.countRequest(route, status: response.status, duration: .now - start)
        return SecurityHeaders.apply(to: response)
    }
}
