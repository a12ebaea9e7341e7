import Dashboard
import HTTPServer
import Observability
import PushModel
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// What pages send: signing in and out, and the operator's actions.
struct FormResponder: Sendable {
    let access: Access
    let actions: ActionRunner
    let pages: PageResponder
    let log: Log

    // MARK: - Sessions

    func signIn(_ request: Request) -> Response {
        guard !self.pages.isClosed else { return self.pages.signInPage(.notConfigured, next: nil, status: 403) }
        let form = Self.form(request) ?? []
        let next = Self.value("next", form)
        let address = ClientAddress.of(request.head)
        if let wait = self.access.limiter.wait(for: address) {
            return self.pages.signInPage(
                .rateLimited(seconds: Int(wait.components.seconds) + 1), next: next, status: 429,
                headers: [Answers.retryAfter(wait)])
        }
        let token = (Self.value("token", form) ?? "").filter { !$0.isWhitespace }
        guard let role = self.access.role(of: token) else {
            self.access.limiter.failed(address)
            self.log.warning("a wrong token was tried", ["address": address])
            return self.pages.signInPage(.wrongToken, next: next, status: 403)
        }
        self.access.limiter.succeeded(address)
        // A new id with each: one that somebody planted in the browser is worth nothing.
        for old in request.head.cookies(Access.cookieName) { self.access.sessions.end(old) }
        let id = self.access.sessions.begin(role)
        self.log.notice("signed in", ["role": role.rawValue, "address": address])
        let target = next.flatMap(PageResponder.ownPage) ?? Route.overview.address
        return Answers.redirect(to: target, headers: [Self.cookie(id, request.head)])
    }

    func signOut(_ request: Request, _ caller: Caller) -> Response {
        guard CrossSite.isOurs(Self.form(request) ?? [], caller) else { return self.pages.error(403, caller) }
        if case .session(_, let id) = caller.proof { self.access.sessions.end(id) }
        return Answers.redirect(
            to: Route.signIn.address, headers: [Self.cookie("", request.head, maxAge: 0)])
    }

    /// Readable by no script, sent by no other site; over TLS only, where the proxy in front speaks it.
    private static func cookie(_ id: String, _ head: RequestHead, maxAge: Int? = nil) -> RequestHead.Item {
        let isSecure = head.values("x-forwarded-proto").last?.lowercased() == "https"
        let age = maxAge ?? Int(Sessions.lifetime.components.seconds)
        return .init(
            "Set-Cookie",
            "\(Access.cookieName)=\(id); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
        )
    }

    // MARK: - Actions

    func act(_ action: Destination.Action, _ request: Request, _ caller: Caller) async -> Response {
        guard let form = Self.form(request) else { return self.pages.error(400, caller) }
        guard CrossSite.isOurs(form, caller) else { return self.pages.error(403, caller) }
        // A bulk action has a filter, of which `reason` is a field; for others it is why.
        let isBulk = if case .bulkStart = action { true } else { false }
        let filter: DeliveryFilter
        do throws(DeliveryFilter.Invalid) {
            let pairs = isBulk ? form.map { ($0.name, $0.value) } : []
            filter = try DeliveryFilter(pairs: pairs, now: Date())
        } catch {
            return self.pages.error(400, caller, detail: error.description)
        }
        let note = isBulk ? nil : Self.value("reason", form).flatMap { $0.isEmpty ? nil : String($0.prefix(500)) }
        guard Self.value("confirmed", form) == "1" else { return self.question(action, filter, note, caller) }
        do {
            let outcome = try await self.actions.run(action, filter: filter, actor: caller.actor, note: note)
            return await self.answer(action, outcome, request.head, caller)
        } catch is ActionRunner.Busy {
            return self.pages.error(503, caller, detail: "Other actions are under way; try again in a moment.")
        } catch {
            self.log.error("an operator's action failed", ["error": "\(error)"])
            let failure = ReadFailure(error)
            return self.pages.error(failure.status, caller, detail: failure.detail)
        }
    }

    private func answer(
        _ action: Destination.Action, _ outcome: ActionRunner.Outcome, _ head: RequestHead, _ caller: Caller
    ) async -> Response {
        switch outcome {
        case .refused(let why): return self.pages.error(400, caller, detail: why)
        case .bulk(let bulk): return Answers.redirect(to: Route.bulk(bulk.id).address)
        case .provider(let endpoint, let isPaused):
            self.tell("\(Explanation.endpoint(endpoint)) is \(isPaused ? "paused" : "resumed").", caller)
            return Answers.redirect(to: Self.origin(head) ?? Route.overview.address)
        case .deliveries(let result):
            self.tell(Self.words(action, result), caller)
            return Answers.redirect(to: await self.place(of: action, head))
        }
    }

    private func tell(_ notice: String, _ caller: Caller) {
        if case .session(_, let id) = caller.proof { self.access.sessions.leaveNotice(notice, for: id) }
    }

    private static func words(_ action: Destination.Action, _ result: ActionResult) -> String {
        let changed = result.changed
        guard result.items.count != 1 else {
            let message = result.items[0].message
            return message.prefix(1).uppercased() + message.dropFirst() + "."
        }
        let verb = if case .retry = action { "put back to be sent" } else { "cancelled" }
        return "\(changed) of \(result.items.count) \(verb)."
    }

    /// Back to where it was asked for, else to the delivery, or the notification whose id it is.
    private func place(of action: Destination.Action, _ head: RequestHead) async -> String {
        if let origin = Self.origin(head) { return origin }
        guard case .retry(let id) = action else {
            guard case .cancel(let id) = action else { return Route.overview.address }
            return await self.place(of: id)
        }
        return await self.place(of: id)
    }

    private func place(of id: UUID) async -> String {
        let isDelivery = (try? await self.pages.queue.reader.states(of: [id]).isEmpty) == false
        return (isDelivery ? Route.delivery(id) : Route.notification(id)).address
    }

    /// The page of ours that the form stood on.
    private static func origin(_ head: RequestHead) -> String? {
        guard let referer = head.value("referer"), let host = head.value("host"),
            let scheme = referer.firstRange(of: "://"), referer[scheme.upperBound...].hasPrefix(host + "/")
        else { return nil }
        return PageResponder.ownPage(String(referer[scheme.upperBound...].dropFirst(host.count)))
    }

    // MARK: - Questions

    /// The page that asks, for browsers without the script.
    private func question(
        _ action: Destination.Action, _ filter: DeliveryFilter, _ reason: String?, _ caller: Caller
    ) -> Response {
        if case .bulkStart(let kind) = action {
            return Answers.redirect(to: Route.confirm(kind, Route.Query(filter.pairs)).address)
        }
        let context = self.pages.context(caller)
        var confirmation = Self.confirmation(action)
        if let reason { confirmation.fields.append(("reason", reason)) }
        return Answers.html(Pages.confirm(confirmation, context).text)
    }

    private static func confirmation(_ action: Destination.Action) -> Confirmation {
        switch action {
        case .retry(let id):
            Confirmation(
                question: "Retry it?",
                effects: [
                    "What was given up or cancelled is tried again with the same ids; what waits becomes due at once.",
                    "What meanwhile was read, switched off or deleted is not pushed.",
                ], route: .retry(id), label: "Retry", back: .delivery(id))
        case .cancel(let id):
            Confirmation(
                question: "Cancel it?",
                effects: ["What waits is ended and not pushed. What a worker holds at this moment goes out."],
                route: .cancel(id), label: "Cancel it", isDestructive: true, back: .delivery(id))
        case .pause(let endpoint):
            Confirmation(
                question: "Pause \(endpoint.rawValue)?",
                effects: ["No worker sends to it until somebody resumes it. Nothing is lost: deliveries wait."],
                route: .pause(endpoint), label: "Pause", isDestructive: true, back: .overview)
        case .resume(let endpoint):
            Confirmation(
                question: "Resume \(endpoint.rawValue)?",
                effects: ["Workers send to it again; what waited is due at once."],
                route: .resume(endpoint), label: "Resume", back: .overview)
        case .bulkStop(let id):
            Confirmation(
                question: "Stop it?", effects: ["It ends after the slice under way; what was done stays done."],
                route: .stopBulk(id), label: "Stop", back: .bulk(id))
        case .bulkStart(let kind):
            Confirmation(question: "", effects: [], route: .bulkStart(kind), label: "", back: .deliveries())
        }
    }

    // MARK: - Forms

    /// Nil when the body is no form.
    private static func form(_ request: Request) -> [RequestHead.Item]? {
        let type = request.head.value("content-type") ?? ""
        guard type.lowercased().hasPrefix("application/x-www-form-urlencoded"),
            let text = String(validating: request.body, as: UTF8.self)
        else { return request.body.isEmpty ? [] : nil }
        return RequestTarget.items(of: text[...])
    }

    /// Of a field that is there once.
    private static func value(_ name: String, _ form: [RequestHead.Item]) -> String? {
        let values = form.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }
}
