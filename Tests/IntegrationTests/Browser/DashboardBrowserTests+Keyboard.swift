import JSONWebToken
import PushModel
import TestSupport
import Testing

extension DashboardBrowserTests {
    /// Everything can be reached and done without a pointer, and one sees where one is.
    @Suite struct Keyboard {
        private static let tab = "\u{E004}"
        private static let enter = "\u{E007}"

        /// What has the focus: what it is, and whether one sees that it has it.
        private struct Focus {
            var name: String
            var isVisible: Bool
        }

        private static func focus(_ browser: WebDriver) async throws -> Focus {
            let found = try await browser.run(
                """
                const element = document.activeElement, style = getComputedStyle(element);
                const box = element.getBoundingClientRect();
                return [element.id || element.textContent.trim(),
                    style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2
                        && box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight];
                """)
            guard case .array(let parts) = found, parts.count == 2 else { throw NotInTime("no focus: \(found)") }
            return Focus(name: parts[0].string ?? "", isVisible: parts[1] == .bool(true))
        }

        /// Goes on by the tab key until `name` has the focus; every stop on the way must be seen.
        private static func tab(to name: String, _ browser: WebDriver) async throws -> [String] {
            var stops: [String] = []
            for _ in 0..<40 {
                try await browser.press(Self.tab)
                let focus = try await Self.focus(browser)
                stops.append(focus.name)
                #expect(focus.isVisible, "the focus is not seen on \(focus.name)")
                if focus.name == name { return stops }
            }
            throw NotInTime("no \(name) among \(stops)")
        }

        @Test func `from the skip link to the search and to the first action`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            // The token's field has the focus to begin with.
            try await visit.open("/sign-in")
            try await browser.press(DashboardVisit.Role.operator.token + Self.enter)
            try await browser.wait(for: "Overview", in: "h1")

            try await visit.open("/deliveries")
            #expect(try await Self.tab(to: "Skip to the content", browser) == ["Skip to the content"])
            try await browser.press(Self.enter)
            #expect(try await browser.run("return document.activeElement.id") == "main")
            #expect(try await Self.tab(to: "filter-account", browser) == ["filter-account"])
            #expect(
                try await Self.tab(to: "Search", browser) == [
                    "filter-notification", "filter-device", "filter-state", "filter-kind", "filter-platform",
                    "filter-reason", "filter-since", "filter-until", "Search",
                ])

            // Without the skip link: brand, pages, live, sign out, then the content.
            try await visit.open("/deliveries")
            let stops = try await Self.tab(to: "filter-account", browser)
            #expect(stops.prefix(3) == ["Skip to the content", "push-fanout", "Overview"], "\(stops)")
            #expect(stops.contains("Sign out"), "\(stops)")

            try await visit.open("/")
            let way = try await Self.tab(to: "Pause…", browser)
            #expect(way.count < 20, "\(way)")
            try await browser.press(Self.enter)
            #expect(try await Self.tab(to: "pause-apns-production-reason", browser).count == 1)
            #expect(try await Self.tab(to: "Pause", browser).count == 1)
        }

        @Test func `a delivery is retried by keys alone`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let (_, _, notifications) = try await visit.discarded(1)
            let delivery = try await visit.delivery(of: notifications[0])
            try await visit.signIn(as: .operator, at: "/deliveries/\(delivery.text)")
            _ = try await Self.tab(to: "Retry", browser)
            try await browser.press(Self.enter)
            try await browser.wait(for: "Retry this delivery?", in: "dialog h2")
            // The focus stays in the question.
            #expect(try await Self.focus(browser).name == "Leave it")
            for _ in 0..<4 {
                try await browser.press(Self.tab)
                let isInside = try await browser.run(
                    "return document.activeElement === document.body || !!document.activeElement.closest('dialog')")
                #expect(isInside == .bool(true))
            }
            try await browser.run("document.querySelector('dialog button:not(.soft)').focus()")
            try await browser.press(Self.enter)
            try await browser.wait(for: "Accepted", in: "#outcome .pill")
        }

        @Test(arguments: ["/", "/database", "/deliveries", "/templates"])
        func `a slash leads to the search`(_ page: String) async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            try await visit.signIn(as: .viewer, at: page)
            try await browser.press("/")
            let field = page == "/templates" ? "sample-name" : "filter-account"
            try await eventually {
                try await browser.run("return document.activeElement && document.activeElement.id") == .string(field)
            }
            // In a field it is a character like others.
            try await browser.press("/")
            let value = try await browser.run("return document.activeElement.value").string ?? ""
            #expect(value.hasSuffix("/"))
        }
    }
}
