import Testing

@testable import Dashboard

struct HTMLTests {
    @Test(arguments: [
        ("Anna & Co", "Anna &amp; Co"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        (#""><script>alert(1)</script>"#, "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("it's", "it&#39;s"),
        ("&lt;", "&amp;lt;"),
        ("line\nand\ttab", "line\nand\ttab"),
        ("nul\u{0}bell\u{7}", "nul\u{FFFD}bell\u{FFFD}"),
        ("\u{202E}gnp.exe", "\u{FFFD}gnp.exe"),
        ("👩‍👩‍👧 é ع", "👩‍👩‍👧 é ع"),
        ("", ""),
    ])
    func `a value is text`(value: String, expected: String) {
        let text: HTML = "<p>\(value)</p>"
        #expect(text.text == "<p>\(expected)</p>")
        let attribute: HTML = #"<p title="\#(value)">"#
        #expect(attribute.text == #"<p title="\#(expected)">"#)
        #expect(HTML(escaping: value).text == expected)
    }

    @Test(arguments: [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "data:text/html,x",
        "https://example.com/",
        "//example.com/", #"/\example.com/"#, "deliveries", "", "\u{1}javascript:alert(1)",
    ])
    func `an address that is not ours goes nowhere`(value: String) {
        for markup: HTML in [
            #"<a href="\#(value)">"#, #"<form action="\#(value)">"#, #"<script src="\#(value)">"#,
            #"<button formaction="\#(value)">"#,
        ] {
            #expect(markup.text.contains("=\"#\""), "\(markup.text)")
        }
    }

    @Test(arguments: ["/", "/deliveries?state=discarded", "#main"])
    func `an address of ours is kept`(value: String) {
        let markup: HTML = #"<a href="\#(value)">"#
        #expect(markup.text == #"<a href="\#(value)">"#)
    }

    @Test func `markup stays markup, lists are joined, nothing is nothing`() {
        let bold: HTML = "<b>\("<")</b>"
        let none: HTML? = nil
        let all: HTML = "\(bold)|\([bold, "&amp;"])|\(none)|\(1_000)"
        #expect(all.text == "<b>&lt;</b>|<b>&lt;</b>&amp;||1000")
        #expect([bold, bold].joined(separator: ", ").text == "<b>&lt;</b>, <b>&lt;</b>")
        #expect(HTML.when(false, "<p>").isEmpty)
        #expect((bold + "!").text == "<b>&lt;</b>!")
    }
}
