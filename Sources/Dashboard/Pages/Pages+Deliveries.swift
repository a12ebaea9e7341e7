import PushModel
package import QueueInspection

import struct FoundationEssentials.UUID

/// What the list of deliveries shows.
package struct DeliveryListing: Sendable {
    package var filter: DeliveryFilter
    package var page: DeliveryPage
    /// How many the filter matches; nil where that was not counted.
    package var count: CappedCount?
    /// What was typed into a field that could not be understood, and why; nothing is searched for then.
    package var fault: (entered: [(name: String, value: String)], invalid: DeliveryFilter.Invalid)?

    package init(
        filter: DeliveryFilter, page: DeliveryPage, count: CappedCount?,
        fault: (entered: [(name: String, value: String)], invalid: DeliveryFilter.Invalid)? = nil
    ) {
        self.filter = filter
        self.page = page
        self.count = count
        self.fault = fault
    }

    /// Whether acting on all that the filter matches can change anything.
    var may: PermittedActions {
        guard self.fault == nil, !self.filter.isEmpty, !self.page.rows.isEmpty else {
            return PermittedActions(retry: false, cancel: false)
        }
        return switch self.filter.state {
        case nil, .available: PermittedActions(retry: true, cancel: true)
        case .discarded, .cancelled: PermittedActions(retry: true, cancel: false)
        case .accepted, .running: PermittedActions(retry: false, cancel: false)
        }
    }
}

extension Pages {
    /// The search, and a page of what it found.
    package static func deliveries(_ listing: DeliveryListing, _ context: PageContext) -> HTML {
        let ids = listing.page.rows.map(\.id.text).joined(separator: ",")
        return Layout(
            title: "Deliveries", section: .deliveries,
            events: ids.isEmpty ? nil : .events(Route.Query([("rows", ids)])), aside: self.found(listing)
        ).page(
            context,
            """
            \(self.filterForm(listing))\
            \(self.chips(listing.filter))\
            \(listing.filter.notification.map(self.notificationHint))\
            \(self.bulkBox(listing, context))\
            <section class="box" aria-label="Found">
            \(self.rows(listing, context))\
            \(self.turning(listing))\
            </section>

            """)
    }

    /// The content of a row of the list.
    package static func deliveryRowPart(_ row: DeliveryRow, _ context: PageContext) -> PagePart {
        PagePart(id: "row-\(row.id.text)", content: self.deliveryTable([]).cells(self.cells(row, context)))
    }

    // MARK: - Search

    private static func found(_ listing: DeliveryListing) -> HTML {
        guard let count = listing.count, listing.fault == nil else { return .empty }
        let words =
            switch count.value {
            case 0: "Nothing matches"
            case 1: "1 matches"
            default: "\(count) match"
            }
        return #"<p class="quiet">\#(listing.filter.isEmpty ? "\(count) in the queue and its history" : words)</p>"#
    }

    private static func filterForm(_ listing: DeliveryListing) -> HTML {
        func value(_ field: DeliveryFilter.Field) -> String {
            listing.fault?.entered.last { $0.name == field.rawValue }?.value ?? listing.filter.text(field) ?? ""
        }
        func input(
            _ field: DeliveryFilter.Field, _ label: String, _ example: String, isFirst: Bool = false,
            isLong: Bool = false
        )
            -> HTML
        {
            let style: HTML = isLong ? #" class="long""# : .empty
            let isWrong = listing.fault?.invalid.field == field
            let search: HTML = isFirst ? " data-search" : .empty
            let fault: HTML = isWrong ? #" aria-invalid="true" aria-describedby="filter-fault""# : .empty
            return """
                <div\(style)><label for="filter-\(field.rawValue)">\(label)</label>\
                <input id="filter-\(field.rawValue)" name="\(field.rawValue)" value="\(value(field))" \
                placeholder="\(example)" autocomplete="off" spellcheck="false"\(search)\(fault)></div>

                """
        }
        func choice(_ field: DeliveryFilter.Field, _ label: String, _ options: [(String, String)]) -> HTML {
            let current = value(field)
            let list = options.map { option -> HTML in
                let selected: HTML = option.0 == current ? " selected" : .empty
                return #"<option value="\#(option.0)"\#(selected)>\#(option.1)</option>"#
            }
            return """
                <div><label for="filter-\(field.rawValue)">\(label)</label>\
                <select id="filter-\(field.rawValue)" name="\(field.rawValue)"><option value="">Any</option>\(list)</select></div>

                """
        }
        var kinds = NotificationKind.all.map { ($0.name, Explanation.kind(named: $0.name)) }
        let kind = value(.kind)
        if !kind.isEmpty, !kinds.contains(where: { $0.0 == kind }) { kinds.append((kind, kind)) }
        return """
            <section class="box filter" aria-label="Search">
            <form method="get" action="\(Route.deliveries())" role="search">
            <div class="fields">
            \(input(.account, "Account", "id", isFirst: true, isLong: true))\
            \(input(.notification, "Notification", "id", isLong: true))\
            \(input(.device, "Device", "id", isLong: true))\
            \(choice(.state, "State", DeliveryState.allCases.map { ($0.rawValue, Explanation.state($0).title) }))\
            \(choice(.kind, "Kind", kinds))\
            \(choice(.platform, "Platform", Platform.allCases.map { ($0.rawValue, Explanation.platform($0)) }))\
            \(input(.reason, "Reason", "Unregistered"))\
            \(input(.since, "Since (UTC)", "2h, or a date"))\
            \(input(.until, "Until (UTC)", "1h, or a date"))\
            </div>
            \(HTML.when(listing.fault != nil, "<p class=\"fault\" id=\"filter-fault\" role=\"alert\">\(self.capitalised(self.sentence(listing.fault?.invalid.description ?? "")))</p>\n"))\
            <div class="actions"><button>Search</button>\
            \(HTML.when(!listing.filter.isEmpty || listing.fault != nil, #"<a class="button soft" href="\#(Route.deliveries())">Clear</a>"#))</div>
            </form>
            </section>

            """
    }

    private static func chips(_ filter: DeliveryFilter) -> HTML {
        let query = Route.Query(filter.pairs)
        guard !query.pairs.isEmpty else { return .empty }
        let chips = query.pairs.map { pair -> HTML in
            """
            <li><a href="\(Route.deliveries(query.without(pair.name)))" aria-label="Without \(pair.name)">\
            \(self.capitalised(pair.name)): \(self.filterValue(pair.name, pair.value))</a></li>

            """
        }
        return "<ul class=\"chips\" aria-label=\"Filters in force\">\n\(chips)</ul>\n"
    }

    /// The filter, field by field.
    static func filterFacts(_ filter: DeliveryFilter) -> HTML {
        Parts.facts(filter.pairs.map { (self.capitalised($0.name), self.filterValue($0.name, $0.value)) })
    }

    static func capitalised(_ text: String) -> String {
        guard let first = text.first else { return text }
        return first.uppercased() + text.dropFirst()
    }

    /// A value of a filter as the pages say it.
    static func filterValue(_ name: String, _ value: String) -> HTML {
        switch DeliveryFilter.Field(rawValue: name) {
        case .state: HTML(escaping: DeliveryState(rawValue: value).map { Explanation.state($0).title } ?? value)
        case .kind: HTML(escaping: Explanation.kind(named: value))
        case .platform: HTML(escaping: Platform(rawValue: value).map { Explanation.platform($0) } ?? value)
        case .account, .notification, .device: #"<span class="id">\#(value)</span>"#
        case .since, .until: MomentText.read(value, now: .distantPast).map { Parts.moment($0) } ?? HTML(escaping: value)
        case .reason, nil: HTML(escaping: value)
        }
    }

    /// A notification that was not pushed has no deliveries, but a page that says why.
    private static func notificationHint(_ id: UUID) -> HTML {
        """
        <p>Why each phone did or did not get it: <a href="\(Route.notification(id))">open this notification</a>.</p>

        """
    }

    // MARK: - Everything that matches

    private static func bulkBox(_ listing: DeliveryListing, _ context: PageContext) -> HTML {
        guard context.mayAct, listing.may.retry || listing.may.cancel else { return .empty }
        let query = Route.Query(listing.filter.pairs)
        // Without a state each action means those that it can be done to.
        let isOpen = listing.filter.state == nil
        let retry: HTML =
            #"<a class="button soft" href="\#(Route.confirm(.retry, query))">\#(isOpen ? "Retry all discarded…" : "Retry all…")</a> "#
        let cancel: HTML =
            #"<a class="button soft" href="\#(Route.confirm(.cancel, query))">\#(isOpen ? "Cancel all waiting…" : "Cancel all…")</a> "#
        return """
            <div class="actions bulk" role="group" aria-label="Everything this filter matches">
            <span>Everything this filter matches, not only this page:</span>
            \(HTML.when(listing.may.retry, retry))\(HTML.when(listing.may.cancel, cancel))
            </div>

            """
    }

    // MARK: - The list

    private static func rows(_ listing: DeliveryListing, _ context: PageContext) -> HTML {
        if listing.fault != nil { return "<p>Nothing was searched for: see the field marked above.</p>\n" }
        guard listing.page.rows.isEmpty else {
            return self.deliveryTable(
                listing.page.rows.map { Table.Row(id: "row-\($0.id.text)", cells: self.cells($0, context)) }
            ).html
        }
        if listing.page.stoppedEarly { return "<p>Nothing in this stretch of time; older ones may match.</p>\n" }
        return listing.filter.isEmpty
            ? "<p>No deliveries yet. They appear as soon as the first notification is pushed.</p>\n"
            : "<p>Nothing matches. A notification that was not pushed to anybody has no deliveries; search for its id to see why.</p>\n"
    }

    private static func deliveryTable(_ rows: [Table.Row]) -> Table {
        Table(
            caption: "Deliveries, latest first",
            columns: [
                .init(label: "Delivery", style: .nowrap), .init(label: "When", style: .nowrap),
                .init(label: "State", style: .nowrap), .init(label: "Kind"), .init(label: "Platform"),
                .init(label: "Reason"), .init(label: "Tries", style: .number), .init(label: "Notification"),
                .init(label: "Account"),
            ], rows: rows)
    }

    private static func cells(_ row: DeliveryRow, _ context: PageContext) -> [HTML] {
        let due: HTML? =
            Parts.waitsForResume(row.reason)
            ? "<p class=\"quiet\">until the provider is resumed</p>" as HTML
            : row.scheduledAt.map { #"<p class="quiet">due \#(Parts.relative($0, context))</p>"# }
        return [
            Parts.link(row.id, to: .delivery(row.id)),
            Parts.relative(row.time, context),
            "\(Parts.pill(row.state))\(row.state == .available ? due : nil)",
            Parts.kind(row.kind),
            Parts.platform(row.platform),
            Parts.reason(row.reason),
            "\(row.attempt)",
            Parts.link(row.notificationID, to: .notification(row.notificationID)),
            row.accountID.map { Parts.link($0, to: .deliveries(Route.Query([("account", $0.text)]))) } ?? .empty,
        ]
    }

    private static func turning(_ listing: DeliveryListing) -> HTML {
        func link(_ cursor: DeliveryCursor?, _ words: String, _ relation: String) -> HTML {
            guard let cursor else { return "<span></span>" }
            let query = Route.Query(listing.filter.pairs).adding("cursor", cursor.description)
            return #"<a class="button soft" rel="\#(relation)" href="\#(Route.deliveries(query))">\#(words)</a>"#
        }
        guard listing.page.next != nil || listing.page.previous != nil else { return .empty }
        let early: HTML? =
            listing.page.stoppedEarly
            ? "<span class=\"quiet\">Few match, so the search stopped here; Older goes on.</span>" : nil
        return """
            <nav class="pages" aria-label="More deliveries">\(link(listing.page.previous, "← Newer", "prev"))\(early)\
            \(link(listing.page.next, "Older →", "next"))</nav>

            """
    }
}
