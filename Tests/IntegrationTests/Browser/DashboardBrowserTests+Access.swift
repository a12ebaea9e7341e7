import FoundationEssentials
import JSONWebToken
import PushModel
import TestSupport
import Testing

extension DashboardBrowserTests {
    /// Who gets in, and who may do what.
    @Suite struct Access {
        @Test(arguments: DashboardVisit.Role.allCases)
        func `each token signs in to its role, and back to the page that was wanted`(_ role: DashboardVisit.Role)
            async throws
        {
            let visit = try DashboardVisit.now()
            try await visit.signIn(as: role)
            let browser = visit.browser
            #expect(try await browser.text(".session span") == role.rawValue.capitalized)
            #expect(try await browser.text(".foot").contains("signed in as \(role.rawValue)"))
            let cookie = try await browser.ask("GET", "/cookie/push_fanout_session").object ?? [:]
            #expect(cookie["httpOnly"] == .bool(true))
            #expect(cookie["sameSite"] == "Strict")
            #expect(try await browser.run("return document.cookie") == "")

            try await browser.ask("DELETE", "/cookie")
            try await visit.open("/deliveries?state=discarded")
            #expect(try await browser.path() == "/sign-in?next=%2Fdeliveries%3Fstate%3Ddiscarded")
            try await browser.type(role.token, into: "#token")
            try await browser.press("\u{E007}")
            try await browser.wait(for: "Deliveries", in: "h1")
            #expect(try await browser.path() == "/deliveries?state=discarded")
        }

        @Test func `a wrong token is refused with words`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            try await visit.open("/sign-in")
            try await browser.ask("DELETE", "/cookie")
            try await browser.type("not-a-token", into: "#token")
            try await browser.click("main button")
            try await browser.wait(for: "neither the operator’s nor the viewer’s", in: "#token-message")
            #expect(try await browser.run("return document.activeElement.id") == "token")
            #expect(try await browser.run("return document.getElementById('token').value") == "")
            try await visit.open("/")
            #expect(try await browser.title() == "Sign in · push-fanout")
        }

        @Test func `a viewer sees no buttons that act, and is refused by hand too`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let (account, _, notifications) = try await visit.discarded(1)
            let delivery = try await visit.delivery(of: notifications[0])
            let pages = [
                "/", "/deliveries?account=\(account.text)", "/deliveries/\(delivery.text)",
                "/notifications/\(notifications[0].text)",
            ]
            // The same pages have such buttons for the operator, so the look is able to find them.
            for (role, isFound) in [(DashboardVisit.Role.operator, true), (.viewer, false)] {
                try await visit.signIn(as: role)
                for page in pages {
                    try await visit.open(page)
                    let actions = try await browser.exists("main form[method=post], main a[href*=confirm]")
                    let expected = isFound && !page.hasPrefix("/notifications")
                    #expect(actions == expected, "\(role) on \(page)")
                    #expect(
                        try await browser.exists("main a[href*='names=1']")
                            == (isFound && page.count > 40 && !page.contains("?")), "\(role) on \(page)")
                }
            }
            let token = try #require(
                try await browser.run("return document.querySelector('[name=csrf]').value").string)
            for path in ["/deliveries/\(delivery.text)/retry", "/providers/fcm/pause", "/deliveries/retry"] {
                let fields = ["csrf": token, "confirmed": "1", "account": account.text, "reason": "x"]
                #expect(try await visit.post(path, fields) == 403, "\(path)")
            }
            try await visit.open("/deliveries/confirm?action=retry&account=\(account.text)")
            #expect(try await browser.exists("main form") == false)
            #expect(try await visit.installation.ends(of: notifications[0], count: 1) == ["discarded BadPriority"])
            _ = try await browser.complaints()
        }

        @Test func `a POST without the token of the session, or with a wrong one, is refused`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            let (_, _, notifications) = try await visit.discarded(1)
            let path = "/deliveries/\(try await visit.delivery(of: notifications[0]).text)"
            try await visit.signIn(as: .operator, at: path)
            let token = try #require(
                try await browser.run("return document.querySelector('[name=csrf]').value").string)
            #expect(try await visit.post(path + "/retry", ["confirmed": "1"]) == 403)
            #expect(try await visit.post(path + "/retry", ["confirmed": "1", "csrf": ""]) == 403)
            let wrong = String(token.reversed())
            #expect(try await visit.post(path + "/retry", ["confirmed": "1", "csrf": wrong]) == 403)
            // With the right one the question is asked: it was the token that was missing.
            #expect(try await visit.post(path + "/retry", ["csrf": token]) == 200)

            // From another site, with the token even.
            try await browser.open(
                "data:text/html,<form method=post action='\(visit.address(path + "/retry"))'><input name=csrf value='\(token)'>"
                    + "<input name=confirmed value=1><button>Go</button></form>")
            try await browser.click("button")
            try await browser.wait(for: "Not allowed", in: "h1")
            #expect(try await visit.installation.ends(of: notifications[0], count: 1) == ["discarded BadPriority"])
            _ = try await browser.complaints()
        }

        @Test func `signing out ends the session`() async throws {
            let visit = try DashboardVisit.now()
            let browser = visit.browser
            try await visit.signIn(as: .operator)
            let cookie = try await browser.ask("GET", "/cookie/push_fanout_session")
            try await browser.click(".session form button")
            try await browser.wait(for: "Sign in", in: "h1")
            #expect(try await browser.run("return document.cookie") == "")
            // Neither as one comes back, nor for somebody who kept the cookie.
            try await visit.open("/database")
            #expect(try await browser.path() == "/sign-in?next=%2Fdatabase")
            try await browser.ask("POST", "/cookie", ["cookie": cookie])
            try await visit.open("/database")
            try await browser.wait(for: "Your session has ended", in: "#token-message")
            try await browser.ask("DELETE", "/cookie")
        }
    }
}
