import Dashboard
import DeliveryQueue
import HTTPServer
import Localization
import Postgres
import PushModel
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Reads what a page shows, and has it drawn.
struct PageResponder: Sendable {
    let queue: QueueAccess
    let access: Access
    /// Nobody can sign in: no token is set.
    let isClosed: Bool
    let languages: @Sendable () -> LanguageCatalog
    let rebuilder: RequestRebuilder

    // MARK: - Around the pages

    func context(
        _ caller: Caller?, now: Date = Date(), banner: String? = nil, showsNames: Bool = false
    ) -> PageContext {
        var notice: String?
        if let caller, case .session(_, let id) = caller.proof { notice = self.access.sessions.takeNotice(id) }
        return PageContext(
            role: caller?.role, csrfToken: caller?.csrfToken ?? "", now: now, banner: banner, notice: notice,
            showsNames: showsNames)
    }

    func error(
        _ status: Int, _ caller: Caller?, detail: String? = nil, headers: [RequestHead.Item] = []
    ) -> Response {
        // Without the session's notice: it belongs to the page that was meant.
        let context = PageContext(role: caller?.role, csrfToken: caller?.csrfToken ?? "", now: Date())
        return Answers.html(Pages.error(status: status, detail: detail, context).text, status: status, headers: headers)
    }

    /// To the page to sign in, and from there back to what was wanted.
    func toSignIn(from head: RequestHead) -> Response {
        let wanted = head.path + Route.Query(head.query.map { ($0.name, $0.value) }).encoded
        var query = Route.Query()
        if head.path != "/" { query = query.adding("next", wanted) }
        if !head.cookies(Access.cookieName).isEmpty { query = query.adding("ended", "1") }
        return Answers.redirect(to: Route.signIn.address + query.encoded)
    }

    func signInPage(_ head: RequestHead) -> Response {
        let state: Pages.SignInState =
            self.isClosed ? .notConfigured : head.queryValue("ended") == "1" ? .sessionEnded : .fresh
        return self.signInPage(state, next: head.queryValue("next"))
    }

    func signInPage(_ state: Pages.SignInState, next: String?, status: Int = 200, headers: [RequestHead.Item] = [])
        -> Response
    {
        let page = Pages.signIn(state, next: next.flatMap(Self.ownPage), self.context(nil))
        return Answers.html(page.text, status: status, headers: headers)
    }

    /// The address, if it is one of our pages: what comes from outside must not send anybody elsewhere.
    static func ownPage(_ address: String) -> String? {
        guard address.hasPrefix("/"), !address.hasPrefix("//"), address.utf8.count <= 2000,
            address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let target = RequestTarget(address),
            case .page = Destination(path: target.path)
        else { return nil }
        return address
    }

    // MARK: - The pages

    func page(_ page: Destination.Page, _ head: RequestHead, _ caller: Caller) async -> Response {
        do {
            return Answers.html(try await self.markup(page, head, caller).text)
        } catch let missing as NotThere {
            return self.error(page == .confirm ? 400 : 404, caller, detail: missing.detail)
        } catch {
            let failure = ReadFailure(error)
            if page == .overview, failure.status == 503, let overview = self.queue.lastOverview {
                let context = self.context(
                    caller, now: overview.readAt,
                    banner: failure.detail ?? "The database does not answer; this is what was read last.")
                return Answers.html(Pages.overview(overview, context).text)
            }
            return self.error(failure.status, caller, detail: failure.detail)
        }
    }

    private struct NotThere: Error {
        var detail: String?
    }

    private func markup(_ page: Destination.Page, _ head: RequestHead, _ caller: Caller) async throws -> HTML {
        let reader = self.queue.reader
        switch page {
        case .overview:
            let overview = try await self.queue.overview()
            return Pages.overview(overview, self.context(caller, now: overview.readAt))
        case .deliveries:
            return Pages.deliveries(try await self.listing(head), self.context(caller))
        case .delivery(let id):
            guard let timeline = try await reader.timeline(of: id) else {
                throw NotThere(detail: "No delivery has this id.")
            }
            let names = head.queryValue("names") == "1"
            let request = try await self.rebuilder.request(of: timeline.row, showsNames: names)
            return Pages.delivery(timeline, request: request, self.context(caller, showsNames: names))
        case .notification(let id):
            guard let view = try await reader.notification(id) else {
                throw NotThere(detail: "No notification has this id.")
            }
            let names = head.queryValue("names") == "1"
            let name = names ? try await self.rebuilder.actorName(of: id) : nil
            return Pages.notification(view, actorName: name, self.context(caller, showsNames: names))
        case .confirm:
            let (kind, filter) = try self.confirmed(head)
            let matched = try await reader.count(matching: filter)
            return Pages.confirmBulk(kind, filter, matched: matched, self.context(caller))
        case .templates:
            return Pages.templates(self.languages(), TemplateSample(head.query), self.context(caller))
        case .database:
            let health = try await reader.databaseHealth()
            return Pages.database(health, self.context(caller, now: health.readAt))
        case .activity:
            let cursor = head.queryValue("cursor").flatMap { DeliveryCursor($0) }
            return Pages.activity(try await reader.audit(before: cursor), isFirst: cursor == nil, self.context(caller))
        case .bulk(let id):
            guard let action = try await reader.bulkAction(id) else {
                throw NotThere(detail: "No bulk action has this id.")
            }
            return Pages.bulk(action, self.context(caller))
        }
    }

    private func listing(_ head: RequestHead) async throws -> DeliveryListing {
        let entered = head.query.map { (name: $0.name, value: $0.value) }
        let filter: DeliveryFilter
        do throws(DeliveryFilter.Invalid) {
            filter = try DeliveryFilter(pairs: entered, now: Date())
        } catch {
            return DeliveryListing(
                filter: DeliveryFilter(), page: DeliveryPage(rows: []), count: nil, fault: (entered, error))
        }
        let cursor = head.queryValue("cursor").flatMap { DeliveryCursor($0) }
        let page = try await self.queue.reader.deliveries(matching: filter, from: cursor)
        // Counted where it is asked for something, and once: on its first page.
        var count: CappedCount?
        if !filter.isEmpty, cursor == nil {
            // The list is worth showing without the count.
            count = try? await self.queue.reader.count(matching: filter)
        }
        return DeliveryListing(filter: filter, page: page, count: count)
    }

    private func confirmed(_ head: RequestHead) throws -> (Route.BulkKind, DeliveryFilter) {
        guard let kind = head.queryValue("action").flatMap(Route.BulkKind.init(rawValue:)) else { throw NotThere() }
        do {
            let filter = try DeliveryFilter(pairs: head.query.map { ($0.name, $0.value) }, now: Date())
            guard !filter.isEmpty else { throw NotThere(detail: "All deliveries there are: name at least one field.") }
            return (kind, try QueueActions.narrowed(filter, for: kind == .retry ? .retry : .cancel))
        } catch let invalid as DeliveryFilter.Invalid {
            throw NotThere(detail: invalid.description)
        } catch let refusal as QueueActions.Refusal {
            throw NotThere(detail: refusal.description)
        }
    }
}

extension TemplateSample {
    /// What stands in the address; what is not there is a sample of ours.
    init(_ query: [RequestHead.Item]) {
        self.init()
        for item in query where item.value.utf8.count <= 4000 {
            switch item.name {
            case "name": self.name = item.value
            case "pronoun": self.pronoun = Pronoun(rawValue: item.value) ?? self.pronoun
            case "categories":
                self.categories = item.value.split { $0 == "," || $0 == " " }.prefix(20).map(String.init)
            case "title": self.title = item.value
            case "body": self.body = item.value
            default: break
            }
        }
    }
}
