import struct FoundationEssentials.Date

/// What is around every page: head, bar with the navigation, banner, main part, foot.
struct Layout {
    /// The heading of the page, and its title in the browser.
    var title: String
    /// The entry of the navigation that it belongs to.
    var section: Section?
    /// Where its live values come from.
    var events: Route?
    /// Loads the page again after some seconds where there is no script.
    var reloads = false
    /// For pages with little on them.
    var isNarrow = false
    /// Beside the heading.
    var aside = HTML.empty

    enum Section: String, CaseIterable {
        case overview = "Overview"
        case deliveries = "Deliveries"
        case templates = "Templates"
        case database = "Database"
        case activity = "Activity"

        var route: Route {
            switch self {
            case .overview: .overview
            case .deliveries: .deliveries()
            case .templates: .templates()
            case .database: .database
            case .activity: .activity()
            }
        }
    }

    func page(_ context: PageContext, _ content: HTML) -> HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="robots" content="noindex">
        <title>\(self.title) · push-fanout</title>
        <link rel="icon" href="\(Assets.icon.route)">
        <link rel="stylesheet" href="\(Assets.styleSheet.route)">
        <script src="\(Assets.script.route)" defer></script>
        \(HTML.when(self.reloads, #"<noscript><meta http-equiv="refresh" content="3"></noscript>"# + "\n"))\
        </head>
        <body\(HTML.when(self.isNarrow, #" class="narrow""#)) data-now="\(self.milliseconds(context))"\(self.eventsAttribute)>
        <a class="skip" href="#main">Skip to the content</a>
        \(self.bar(context))\
        \(self.message(context.banner, "banner", "alert"))\
        \(self.message(context.notice, "notice", "status"))\
        <main id="main" tabindex="-1">
        <div class="head"><h1>\(self.title)</h1>\(self.aside)</div>
        \(content)\
        </main>
        <footer class="foot">\
        Times are UTC; read at \(Parts.moment(context.now)).\
        \(context.role.map { " You are signed in as \($0 == .operator ? "operator" : "viewer"). <kbd>/</kbd> goes to the search." as HTML })</footer>
        </body>
        </html>

        """
    }

    private var eventsAttribute: HTML {
        guard let events = self.events else { return .empty }
        return #" data-events="\#(events)""#
    }

    private func milliseconds(_ context: PageContext) -> Int {
        Int(context.now.timeIntervalSince1970 * 1000)
    }

    private func bar(_ context: PageContext) -> HTML {
        guard let role = context.role else {
            return """
                <header class="top"><div><a class="brand" href="\(Route.overview)">push-fanout</a></div></header>

                """
        }
        let entries = Section.allCases.map { section -> HTML in
            let here: HTML = section == self.section ? #" aria-current="page""# : .empty
            return #"<li><a href="\#(section.route)"\#(here)>\#(section.rawValue)</a></li>"#
        }
        return """
            <header class="top"><div>
            <a class="brand" href="\(Route.overview)">push-fanout</a>
            <nav aria-label="Pages"><ul>\(entries)</ul></nav>
            <div class="session">\
            \(HTML.when(self.events != nil, #"<button type="button" id="live" hidden>Live</button>"#))\
            <span>\(role == .operator ? "Operator" : "Viewer")</span>
            <form method="post" action="\(Route.signOut)">\(ActionForm.csrf(context))<button>Sign out</button></form>
            </div>
            </div></header>

            """
    }

    private func message(_ words: String?, _ style: String, _ role: String) -> HTML {
        guard let words else { return .empty }
        return "<div class=\"\(style)\" role=\"\(role)\"><p>\(words)</p></div>\n"
    }
}
