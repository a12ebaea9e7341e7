import FoundationEssentials
import PushModel
import QueueInspection
import TestSupport
import Testing

@testable import Dashboard

/// What holds for every page, whatever it shows.
struct PageTests {
    static let pages: [SamplePage] = (try? SamplePage.all()) ?? []

    /// Read once for all tests.
    private static let markups = Dictionary(
        uniqueKeysWithValues: pages.compactMap { page in
            (try? MarkupReader(page.html.text)).map { (page.name, $0) }
        })

    private func read(_ page: SamplePage) throws -> MarkupReader {
        try #require(Self.markups[page.name], "\(page.name) is not well-formed")
    }

    @Test func `there are samples of every page`() throws {
        #expect(try SamplePage.all().count > 50)
    }

    @Test(arguments: pages) func `it is well-formed, and hostile text is text`(page: SamplePage) throws {
        let markup = try MarkupReader(page.html.text)
        #expect(markup.all("img", "iframe", "object", "embed", "base").isEmpty)
        #expect(!page.html.text.contains("onerror=alert(1)>"))
        #expect(!page.html.text.contains("\u{202E}"))
    }

    @Test(arguments: pages) func `nothing in it needs more than the content security policy allows`(page: SamplePage)
        throws
    {
        let markup = try self.read(page)
        #expect(markup.all("style").isEmpty)
        for script in markup.all("script") {
            #expect(script.attributes["src"]?.hasPrefix("/assets/") == true)
            #expect(script.text.isEmpty)
        }
        for element in markup.elements {
            #expect(element.attributes["style"] == nil, "\(element)")
            #expect(!element.attributes.keys.contains { $0.hasPrefix("on") }, "\(element)")
        }
    }

    @Test(arguments: pages) func `every form that posts carries the token, and no form that gets does`(page: SamplePage)
        throws
    {
        let markup = try self.read(page)
        for form in markup.all("form") {
            let names = markup.inside(form).filter { $0.name == "input" }.compactMap { $0.attributes["name"] }
            #expect(names.contains("csrf") == (form.attributes["method"] == "post"), "\(form.attributes)")
            #expect((form.attributes["data-confirm"] != nil) <= names.contains("confirmed"))
            #expect(form.attributes["action"]?.hasPrefix("/") == true)
        }
    }

    @Test(arguments: pages) func `it has one first heading, and skips no level`(page: SamplePage) throws {
        let markup = try self.read(page)
        let levels = markup.all("h1", "h2", "h3", "h4").compactMap { $0.name.dropFirst().first?.wholeNumberValue }
        #expect(levels.count { $0 == 1 } == 1)
        #expect(levels.first == 1)
        for (level, next) in zip(levels, levels.dropFirst()) { #expect(next <= level + 1, "\(levels)") }
        let heading = try #require(markup.all("h1").first)
        #expect(markup.all("title").first { !markup.isInside($0, "svg") }?.text == "\(heading.text) · push-fanout")
    }

    @Test(arguments: pages) func `every field has a label, every button a name, every table a caption`(page: SamplePage)
        throws
    {
        let markup = try self.read(page)
        let labelled = Set(markup.all("label").compactMap { $0.attributes["for"] })
        for field in markup.all("input", "select", "textarea") where field.attributes["type"] != "hidden" {
            let id = try #require(field.attributes["id"])
            #expect(labelled.contains(id), "\(id)")
        }
        for button in markup.all("button", "a", "th") {
            #expect(!button.text.isEmpty || button.attributes["aria-label"] != nil, "\(button)")
        }
        #expect(markup.all("table").count == markup.all("caption").count)
        for region in markup.elements where region.attributes["tabindex"] == "0" {
            #expect(region.attributes["aria-label"] != nil)
        }
        for chart in markup.all("svg") where chart.attributes["aria-hidden"] != "true" {
            #expect(chart.attributes["role"] == "img")
            #expect(markup.inside(chart).contains { $0.name == "title" })
        }
    }

    @Test(arguments: pages) func `ids are unique, and what refers to one finds it`(page: SamplePage) throws {
        let markup = try self.read(page)
        let ids = markup.elements.compactMap { $0.attributes["id"] }
        #expect(ids.count == Set(ids).count, "\(Dictionary(grouping: ids) { $0 }.filter { $0.value.count > 1 }.keys)")
        for name in ["for", "aria-labelledby", "aria-describedby"] {
            for references in markup.elements.compactMap({ $0.attributes[name] }) {
                for reference in references.split(separator: " ") {
                    #expect(ids.contains(String(reference)), "\(reference)")
                }
            }
        }
        for link in markup.all("a").compactMap({ $0.attributes["href"] }) where link.hasPrefix("#") {
            #expect(ids.contains(String(link.dropFirst())))
        }
    }

    @Test(arguments: pages) func `it has landmarks and a way past the navigation`(page: SamplePage) throws {
        let markup = try self.read(page)
        #expect(markup.all("main").count == 1)
        #expect(markup.all("header").count == 1)
        #expect(markup.all("footer").count == 1)
        #expect(markup.all("a").first?.attributes["href"] == "#main")
        #expect(markup.all("html").first?.attributes["lang"] == "en")
    }

    /// As the server's router knows them.
    private static let routes = [
        "/", "/sign-in", "/sign-out", "/deliveries", "/deliveries/ID", "/deliveries/ID/retry", "/deliveries/ID/cancel",
        "/deliveries/retry", "/deliveries/cancel", "/deliveries/confirm", "/notifications/ID", "/templates",
        "/database", "/activity", "/bulk/ID", "/bulk/ID/stop", "/providers/P/pause", "/providers/P/resume",
        "/assets/NAME", "/events",
    ]

    @Test(arguments: pages) func `every address is one that the server knows`(page: SamplePage) throws {
        let markup = try self.read(page)
        let addresses = markup.elements.flatMap { element in
            ["href", "src", "action", "data-events"].compactMap { element.attributes[$0] }
        }
        for address in addresses where !address.hasPrefix("#") {
            let path = address.prefix { $0 != "?" }
            let parts = path.split(separator: "/", omittingEmptySubsequences: false).map { part -> String in
                if UUID(uuidString: String(part)) != nil { return "ID" }
                if path.hasPrefix("/providers/"), ["apns%3Aproduction", "apns%3Adevelopment", "fcm"].contains(part) {
                    return "P"
                }
                if path.hasPrefix("/assets/"), Assets.asset(named: String(part)) != nil { return "NAME" }
                return String(part)
            }
            #expect(Self.routes.contains(parts.joined(separator: "/")), "\(address)")
        }
    }

    @Test func `a viewer is given nothing that acts`() throws {
        for page in try SamplePage.signedIn(.viewer) {
            let markup = try MarkupReader(page.html.text)
            let actions = markup.all("form").filter { $0.attributes["method"] == "post" }.map {
                $0.attributes["action"]
            }
            #expect(actions == ["/sign-out"], "\(page.name)")
            #expect(
                !markup.all("a").contains { $0.attributes["href"]?.hasPrefix("/deliveries/confirm") == true },
                "\(page.name)")
        }
    }

    @Test func `no button stands where it does nothing`() throws {
        func actions(_ html: HTML) throws -> [String] {
            try MarkupReader(html.text).all("form").filter { $0.attributes["method"] == "post" }
                .compactMap { $0.attributes["action"]?.split(separator: "/").last.map(String.init) }
                .filter { $0 != "sign-out" }
        }
        let context = SamplePage.context(.operator)
        func delivery(_ state: DeliveryState) throws -> [String] {
            try actions(Pages.delivery(SampleValues.timeline(state), request: SampleValues.request, context))
        }
        #expect(try delivery(.accepted) == [])
        #expect(try delivery(.running) == [])
        #expect(try delivery(.discarded) == ["retry"])
        #expect(try delivery(.available) == ["retry", "cancel"])
        #expect(try actions(Pages.bulk(SampleValues.bulk(.running), context)) == ["stop"])
        #expect(try actions(Pages.bulk(SampleValues.bulk(.stopping), context)) == [])
        #expect(
            try actions(Pages.overview(SampleValues.overview(isTroubled: true), context)) == [
                "resume", "resume", "pause",
            ])
        #expect(try actions(Pages.notification(SampleValues.notification(isPushed: false), context)) == [])
        #expect(
            try actions(Pages.confirmBulk(.retry, SampleValues.filter, matched: CappedCount(counted: 0), context)) == []
        )
    }

    @Test(arguments: [
        (DeliveryState?.none, ["retry", "cancel"]), (.available, ["retry", "cancel"]), (.discarded, ["retry"]),
        (.cancelled, ["retry"]), (.accepted, []), (.running, []),
    ])
    func `everything a filter matches can be acted on where that changes something`(
        state: DeliveryState?, expected: [String]
    ) throws {
        let listing = DeliveryListing(
            filter: DeliveryFilter(kind: "system", state: state), page: DeliveryPage(rows: SampleValues.rows),
            count: nil)
        let links = try MarkupReader(Pages.deliveries(listing, SamplePage.context(.operator)).text).all("a")
            .compactMap { $0.attributes["href"] }.filter { $0.hasPrefix("/deliveries/confirm?") }
        #expect(links.map { $0.split(separator: "action=").last.map(String.init) ?? "" } == expected)
        #expect(links.allSatisfy { $0.contains("kind=system") })
    }

    @Test func `nothing acts on the whole queue without a filter`() throws {
        let listing = DeliveryListing(
            filter: DeliveryFilter(), page: DeliveryPage(rows: SampleValues.rows), count: CappedCount(counted: 20_000))
        #expect(!Pages.deliveries(listing, SamplePage.context(.operator)).text.contains("/deliveries/confirm"))
    }

    @Test func `the form of the filter keeps its values, also wrong ones`() throws {
        let page = try #require(try SamplePage.signedIn(.viewer).first { $0.name == "deliveries-wrong" })
        let markup = try MarkupReader(page.html.text)
        let account = try #require(markup.all("input").first { $0.attributes["name"] == "account" })
        #expect(account.attributes["value"] == SampleValues.hostile.replacing("\u{202E}", with: "\u{FFFD}"))
        #expect(account.attributes["aria-invalid"] == "true")
        let kept = try MarkupReader(Pages.deliveries(SampleValues.listing, SamplePage.context(.viewer)).text)
        #expect(kept.all("option").filter { $0.attributes.keys.contains("selected") }.map(\.text) == ["Discarded"])
    }

    @Test func `a name is shown only to those who asked`() {
        let view = SampleValues.notification(isPushed: true)
        let name = "Wilhelmina"
        #expect(
            !Pages.notification(view, actorName: name, SamplePage.context(.operator)).text.contains(name))
        #expect(
            Pages.notification(view, actorName: name, SamplePage.context(.operator, showsNames: true)).text.contains(
                name))
    }

    @Test func `live parts say what the page says`() throws {
        let context = SamplePage.context(.operator)
        let overview = SampleValues.overview(isTroubled: true)
        let timeline = SampleValues.timeline(.available)
        let bulk = SampleValues.bulk(.running)
        let pages: [(HTML, [PagePart])] = [
            (Pages.overview(overview, context), Pages.overviewParts(overview, context)),
            (
                Pages.delivery(timeline, request: SampleValues.request, context),
                Pages.deliveryParts(timeline, context)
            ),
            (Pages.bulk(bulk, context), Pages.bulkParts(bulk, context)),
            (
                Pages.deliveries(SampleValues.listing, context),
                SampleValues.rows.map { Pages.deliveryRowPart($0, context) }
            ),
        ]
        for (page, parts) in pages {
            #expect(!parts.isEmpty)
            for part in parts {
                #expect(page.text.contains("id=\"\(part.id)\">\(part.content.text)"), "\(part.id)")
            }
        }
    }

    @Test func `a small page is what it was`() {
        let context = PageContext(role: .viewer, csrfToken: "token", now: Sample.now)
        let text = Assets.all.reduce(Pages.error(status: 404, context).text) { text, asset in
            // The hash is of another file; it may change.
            text.replacing(asset.version, with: "hash")
        }
        Golden.expect(Array(text.utf8), is: "dashboard/error-404.html")
    }
}

/// "If the first, then the second."
private func <= (left: Bool, right: Bool) -> Bool { !left || right }
