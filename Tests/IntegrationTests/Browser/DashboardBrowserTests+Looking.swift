import FoundationEssentials
import JSONWebToken
import PushModel
import PushSimulator
import TestSupport
import Testing

extension DashboardBrowserTests {
    /// Finding what one looks for, and seeing it as it is.
    @Suite struct Looking {
        @Test func `deliveries are found by account, kind and state, and lead to their timeline`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let (account, _, refused) = try await visit.discarded(1)
            let accepted = try await visit.installation.notify(account, kind: "system", title: "Hello")
            #expect(try await visit.installation.ends(of: accepted, count: 1) == ["accepted"])
            try await visit.signIn(as: .viewer, at: "/deliveries")
            try await browser.type(account.text, into: "#filter-account")
            try await browser.click("main form[role=search] button")
            try await browser.wait(for: "2 match", in: ".head")
            // What was left empty is no part of the address.
            #expect(try await browser.path() == "/deliveries?account=\(account.text)")
            #expect(try await Self.rows(browser) == 2)

            try await browser.click("#filter-state option[value=discarded]")
            try await browser.click("main form[role=search] button")
            try await browser.wait(for: "1 matches", in: ".head")
            #expect(try await Self.rows(browser) == 1)
            #expect(try await browser.text("tbody tr").contains("Discarded"))
            #expect(try await browser.text("tbody tr").contains("BadPriority"))

            try await browser.click("#filter-kind option[value=system]")
            try await browser.click("main form[role=search] button")
            try await browser.wait(for: "Nothing matches", in: ".head")
            // Without the state again, by its chip.
            try await browser.click(".chips a[aria-label='Without state']")
            try await browser.wait(for: "1 matches", in: ".head")
            #expect(try await browser.text("tbody tr").contains("System message"))

            try await browser.click("tbody tr th a")
            let delivery = try await visit.delivery(of: accepted)
            try await browser.wait(for: "Delivery \(delivery.text.prefix(8))", in: "h1")
            #expect(try await browser.text("#outcome").contains("Accepted"))
            let steps = try await browser.text("#steps")
            #expect(steps.contains("Decided: Pushed") && steps.contains("Try 1"), "\(steps)")
            let request = try await browser.text("#request pre")
            #expect(request.contains("POST /3/device/") && request.contains("apns-topic"), "\(request)")

            // And the other one by its notification.
            try await visit.open("/notifications/\(refused[0].text)")
            #expect(try await browser.text("tbody tr").contains("No"))
            #expect(try await browser.complaints() == [])
        }

        @Test func `what is no id is told at the field, with everything kept that was typed`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            try await visit.signIn(as: .viewer, at: "/deliveries")
            try await browser.type("<b>nobody</b>", into: "#filter-account")
            try await browser.type("2h", into: "#filter-since")
            try await browser.click("main form[role=search] button")
            try await browser.wait(for: "Account must be a UUID.", in: "#filter-fault")
            #expect(
                try await browser.run(
                    "return ['account', 'since'].map((name) => document.getElementById('filter-' + name).value).join()")
                    == "<b>nobody</b>,2h")
            #expect(
                try await browser.run("return document.getElementById('filter-account').getAttribute('aria-invalid')")
                    == "true")
            #expect(try await browser.exists("main b") == false)
            _ = try await browser.complaints()
        }

        @Test func `a name that is markup is shown as text`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let name = "<img src=x onerror=alert(1)>"
            let (account, _) = try await visit.person()
            let id = try await visit.installation.notify(account, kind: "invitation_received", actor: name)
            #expect(try await visit.installation.ends(of: id, count: 1) == ["accepted"])
            let delivery = try await visit.delivery(of: id)
            try await visit.signIn(as: .operator)
            for page in [
                "/notifications/\(id.text)?names=1", "/deliveries/\(delivery.text)?names=1",
                "/templates?name=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
                "/deliveries?reason=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
            ] {
                try await visit.open(page)
                let text = try await browser.run("return document.querySelector('main').textContent").string ?? ""
                #expect(text.contains(name), "\(page)")
                #expect(try await browser.exists("img") == false, "\(page)")
                let alert = await #expect(throws: WebDriver.Refusal.self) {
                    try await browser.ask("GET", "/alert/text")
                }
                #expect(alert?.description.contains("no such alert") == true)
            }
            // Without the wish they are not in the page at all.
            for page in ["/notifications/\(id.text)", "/deliveries/\(delivery.text)"] {
                try await visit.open(page)
                let source = try await browser.ask("GET", "/source").string ?? ""
                #expect(source.contains("push-fanout") && !source.contains("onerror"), "\(page)")
            }
            #expect(try await browser.complaints() == [])
        }

        @Test func `live values rest while nobody looks, and go on when somebody does`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let (_, _, notifications) = try await visit.discarded(1)
            let delivery = try await visit.delivery(of: notifications[0])
            try await visit.signIn(as: .viewer, at: "/deliveries/\(delivery.text)")
            try await browser.wait(for: "Live", in: "#live")
            try await visit.mark()
            try await browser.run("window.dispatchEvent(new Event('blur'))")
            try await browser.wait(for: "Paused", in: "#live")

            // Another tab of the same sort is told of the change; so this one would have been.
            let other = try ChildProcess(
                "/usr/bin/curl",
                arguments: [
                    "-sN", "-m", "90", "-H", "Authorization: Bearer \(DashboardVisit.Role.viewer.token)",
                    visit.address("/events?delivery=\(delivery.text)"),
                ])
            try await visit.act("/deliveries/\(delivery.text)/retry")
            #expect(try await visit.installation.ends(of: notifications[0], count: 1) == ["accepted"])
            try await other.waitForLine(containing: ">Accepted<")
            other.signal(15)
            #expect(try await browser.text("#outcome").contains("Discarded"))

            try await browser.run("window.dispatchEvent(new Event('focus'))")
            try await browser.wait(for: "Accepted", in: "#outcome .pill")
            #expect(try await browser.text("#live") == "Live")
            // Whoever stops it by hand is not overruled.
            try await browser.click("#live")
            try await browser.run("window.dispatchEvent(new Event('blur')); window.dispatchEvent(new Event('focus'))")
            #expect(try await browser.text("#live").contains("resume"))
            #expect(try await visit.isMarked())
            #expect(try await browser.complaints() == [])
        }

        private static func rows(_ browser: WebDriver) async throws -> Int64? {
            try await browser.run("return document.querySelectorAll('tbody tr').length").integer
        }
    }
}
