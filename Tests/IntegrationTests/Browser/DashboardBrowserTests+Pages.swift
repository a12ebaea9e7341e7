import FoundationEssentials
import JSONWebToken
import TestSupport
import Testing

extension DashboardBrowserTests {
    /// Every page, as it is drawn.
    @Suite(.dashboardPopulation) struct Pages {
        /// The script of axe-core, where there is one: see `deploy/lib/axe.sh`.
        private static let axe = ProcessInfo.processInfo.environment["PUSH_TEST_AXE"]
        /// Where pictures of every page go, for people to look at.
        private static let pictures = ProcessInfo.processInfo.environment["PUSH_TEST_SCREENSHOTS"]

        private static let signIn = DashboardPopulation.Page(name: "sign-in", path: "/sign-in?ended=1")

        /// Opens every page in every look.
        private func walk(_ body: (DashboardPopulation.Page, WebDriver.Look) async throws -> Void) async throws {
            let visit = try DashboardVisit.now()
            let population = try #require(DashboardPopulation.current)
            let browser = visit.browser
            var role: DashboardVisit.Role?
            for page in [Self.signIn] + population.pages {
                if page.name != Self.signIn.name, page.role != role {
                    try await visit.signIn(as: page.role)
                    role = page.role
                }
                try await visit.open(page.path)
                for look in WebDriver.Look.allCases {
                    try await browser.show(as: look)
                    try await body(page, look)
                }
                try await browser.show(as: .light)
            }
        }

        @Test func `no page complains, and none is wider than the screen`() async throws {
            let browser = try DashboardVisit.now().browser
            _ = try await browser.complaints()
            var isLive = 0
            try await self.walk { page, look in
                if look == .light, try await browser.exists("#live") {
                    isLive += 1
                    try await browser.wait(for: "Live", in: "#live")
                }
                if look == .phone {
                    let width = try await browser.run("return document.documentElement.scrollWidth").integer ?? 0
                    #expect(width <= WebDriver.phoneWidth, "\(page.name)")
                    let hidden = try await browser.run(
                        """
                        const list = document.querySelector('.top nav ul');
                        return list ? list.scrollWidth - list.clientWidth : 0;
                        """)
                    #expect(hidden == 0, "the way to some page is out of sight on \(page.name)")
                }
                let unknown = page.name == "not-found" ? "404" : "no such thing"
                let complaints = try await browser.complaints().filter { !$0.contains(unknown) }
                #expect(complaints == [], "\(page.name), \(look)")
                if let folder = Self.pictures {
                    try await browser.screenshot(to: "\(folder)/\(page.name)-\(look.rawValue).png")
                }
            }
            #expect(isLive >= 5)
        }

        @Test func `a question looks like one`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            try await visit.signIn(as: .operator)
            try await browser.click("#provider-fcm form button")
            try await browser.wait(for: "Resume FCM?", in: "dialog h2")
            for look in WebDriver.Look.allCases {
                try await browser.show(as: look)
                let isInside = try await browser.run(
                    """
                    const box = document.querySelector('dialog').getBoundingClientRect();
                    return box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
                    """)
                #expect(isInside == .bool(true), "\(look)")
                if let folder = Self.pictures {
                    try await browser.screenshot(to: "\(folder)/question-\(look.rawValue).png")
                }
            }
            try await browser.show(as: .light)
        }

        @Test(.enabled(if: Self.axe != nil, "PUSH_TEST_AXE names no script of axe-core"))
        func `axe-core finds no fault in any page`() async throws {
            let browser = try DashboardVisit.now().browser
            let script = try String(contentsOfFile: try #require(Self.axe), encoding: .utf8)
            let added = try await browser.tool(
                "Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
            try await self.walk { page, look in
                // At night nothing but the colours is other than by day.
                let rules: JSONValue =
                    look == .dark ? ["runOnly": ["color-contrast"]] : ["rules": ["color-contrast": ["enabled": true]]]
                let found = try await browser.run(
                    """
                    const options = Object.assign({ preload: false, resultTypes: ['violations', 'passes'] }, arguments[0]);
                    return axe.run(document, options).then((result) => [
                        result.passes.length,
                        ...result.violations.map((violation) => violation.id + ': ' + violation.nodes.slice(0, 4)
                            .map((node) => node.target.join(' ') + ' (' + node.failureSummary + ')').join('; '))]);
                    """, [rules])
                guard case .array(let parts) = found, let passes = parts.first?.integer else {
                    throw NotInTime("axe answered \(found)")
                }
                #expect(passes > 0)
                #expect(parts.dropFirst().compactMap(\.string) == [], "\(page.name), \(look)")
            }
            if let id = added.object?["identifier"] {
                try await browser.tool("Page.removeScriptToEvaluateOnNewDocument", ["identifier": id])
            }
        }
    }
}
