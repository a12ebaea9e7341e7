import JSONWebToken
import TestSupport
import Testing

/// The browser itself, with a page of its own.
@Suite struct WebDriverBrowserTests {
    @Test func `a page is read, typed into and clicked`() async throws {
        try await WebDriver.run { browser in
            try await browser.open(
                "data:text/html,<meta name=viewport content=width=device-width><title>one</title><label>Name <input id=name></label>"
                    + "<button onclick=\"document.title=document.querySelector('input').value\">Go</button>")
            #expect(try await browser.title() == "one")
            try await browser.type("two", into: "#name")
            try await browser.click("button")
            #expect(try await browser.title() == "two")
            #expect(try await browser.exists("#other") == false)
            let error = await #expect(throws: WebDriver.Refusal.self) { try await browser.click("#other") }
            #expect(error?.description.contains("no such element") == true)
            for look in WebDriver.Look.allCases {
                try await browser.show(as: look)
                let isDark = try await browser.run("return matchMedia('(prefers-color-scheme: dark)').matches")
                #expect(isDark == .bool(look == .dark))
                let isNarrow = try await browser.run("return innerWidth <= 400")
                #expect(isNarrow == .bool(look == .phone))
            }
        }
    }
}
