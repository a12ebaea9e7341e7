import FoundationEssentials
import Localization
import PushModel
import QueueInspection
import TestSupport

@testable import Dashboard

/// Every page, each with the values that show most of it.
struct SamplePage: CustomStringConvertible, Sendable {
    var name: String
    var html: HTML

    var description: String { self.name }

    static func context(_ role: PageContext.Role?, showsNames: Bool = false) -> PageContext {
        PageContext(
            role: role, csrfToken: "csrf-\(SampleValues.hostile)", now: SampleValues.now, showsNames: showsNames)
    }

    static func signedIn(_ role: PageContext.Role) throws -> [SamplePage] {
        let context = self.context(role, showsNames: true)
        var troubled = context
        troubled.banner = "The database took longer than 3 s, so these numbers may be old. \(SampleValues.hostile)"
        troubled.notice = "Retried 1 delivery. \(SampleValues.hostile)"
        let catalog = try LanguageCatalog.load(directory: "\(Repository.root)/templates")
        let invalid: DeliveryFilter.Invalid?
        do throws(DeliveryFilter.Invalid) {
            _ = try DeliveryFilter(pairs: [("account", SampleValues.hostile)], now: SampleValues.now)
            invalid = nil
        } catch {
            invalid = error
        }
        let nothing = DeliveryPage(rows: [])
        let wrong = DeliveryListing(
            filter: DeliveryFilter(), page: nothing, count: nil,
            fault: invalid.map { ([("account", SampleValues.hostile), ("kind", SampleValues.hostile)], $0) })
        let many = SampleValues.listing.count ?? CappedCount(counted: 0)
        return [
            SamplePage(name: "overview", html: Pages.overview(SampleValues.overview(isTroubled: false), context)),
            SamplePage(
                name: "overview-troubled", html: Pages.overview(SampleValues.overview(isTroubled: true), troubled)),
            SamplePage(name: "deliveries", html: Pages.deliveries(SampleValues.listing, context)),
            SamplePage(name: "deliveries-wrong", html: Pages.deliveries(wrong, context)),
            SamplePage(
                name: "deliveries-none",
                html: Pages.deliveries(
                    DeliveryListing(
                        filter: DeliveryFilter(notification: Sample.id(1)), page: nothing,
                        count: CappedCount(counted: 0)), context)),
            SamplePage(
                name: "delivery-discarded",
                html: Pages.delivery(SampleValues.timeline(.discarded), request: SampleValues.request, context)),
            SamplePage(
                name: "delivery-waiting",
                html: Pages.delivery(SampleValues.timeline(.available), request: SampleValues.request, context)),
            SamplePage(
                name: "delivery-accepted",
                html: Pages.delivery(
                    SampleValues.timeline(.accepted), request: RebuiltRequest(text: nil), context)),
            SamplePage(
                name: "delivery-running",
                html: Pages.delivery(SampleValues.timeline(.running), request: SampleValues.request, context)),
            SamplePage(
                name: "notification",
                html: Pages.notification(
                    SampleValues.notification(isPushed: true), actorName: SampleValues.hostile, context)),
            SamplePage(
                name: "notification-coalesced",
                html: Pages.notification(SampleValues.notification(isPushed: false), context)),
            SamplePage(
                name: "templates", html: Pages.templates(catalog, TemplateSample(name: SampleValues.hostile), context)),
            SamplePage(name: "database", html: Pages.database(SampleValues.health(isTroubled: false), context)),
            SamplePage(
                name: "database-troubled", html: Pages.database(SampleValues.health(isTroubled: true), context)),
            SamplePage(
                name: "activity",
                html: Pages.activity(
                    AuditPage(
                        entries: SampleValues.audit,
                        next: DeliveryCursor(direction: .older, microseconds: 1, id: Sample.id(1))), isFirst: false,
                    context)),
            SamplePage(
                name: "confirm",
                html: Pages.confirm(
                    Confirmation(
                        question: "Cancel this delivery?", effects: ["It is ended and not pushed."],
                        route: .cancel(Sample.id(4)), fields: [("note", SampleValues.hostile)], label: "Cancel",
                        isDestructive: true, back: .delivery(Sample.id(4))), context)),
            SamplePage(
                name: "confirm-bulk",
                html: Pages.confirmBulk(.retry, SampleValues.filter, matched: many, context)),
            SamplePage(
                name: "confirm-bulk-none",
                html: Pages.confirmBulk(
                    .cancel, SampleValues.filter, matched: CappedCount(counted: 0), fault: "Another one runs.", context)
            ),
            SamplePage(name: "bulk-running", html: Pages.bulk(SampleValues.bulk(.running), context)),
            SamplePage(name: "bulk-failed", html: Pages.bulk(SampleValues.bulk(.failed), context)),
            SamplePage(name: "bulk-finished", html: Pages.bulk(SampleValues.bulk(.finished), context)),
            SamplePage(name: "error-404", html: Pages.error(status: 404, context)),
            SamplePage(name: "error-403", html: Pages.error(status: 403, detail: SampleValues.hostile, context)),
            SamplePage(name: "error-503", html: Pages.error(status: 503, troubled)),
        ]
    }

    static func signedOut() -> [SamplePage] {
        let context = self.context(nil)
        return [
            SamplePage(name: "sign-in", html: Pages.signIn(.fresh, next: "/deliveries?state=discarded", context)),
            SamplePage(name: "sign-in-wrong", html: Pages.signIn(.wrongToken, context)),
            SamplePage(name: "sign-in-limited", html: Pages.signIn(.rateLimited(seconds: 40), context)),
            SamplePage(name: "sign-in-ended", html: Pages.signIn(.sessionEnded, next: SampleValues.hostile, context)),
            SamplePage(name: "sign-in-closed", html: Pages.signIn(.notConfigured, context)),
        ]
    }

    static func all() throws -> [SamplePage] {
        try self.signedIn(.operator)
            + self.signedIn(.viewer).map { SamplePage(name: $0.name + "-viewer", html: $0.html) }
            + self.signedOut()
    }
}
