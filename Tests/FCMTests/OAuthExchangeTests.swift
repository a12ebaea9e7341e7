import HTTPTransport
import Testing

@testable import FCM

@Suite struct OAuthExchangeTests {
    /// A word of the answer of which nothing is left once it is fit to print.
    @Test(arguments: ["", " ", "\u{A0}", "\u{1}é"])
    func anUnreadableErrorIsNamedByItsStatus(_ error: String) {
        let escaped = error.replacing("\u{1}", with: "\\u0001")
        let answer = HTTPAnswer(status: 404, body: Array("{\"error\":\"\(escaped)\"}".utf8))
        #expect(
            OAuthExchange.read(answer, now: 0)
                == .failure(.rejected(error: "http_404", description: "", clockSkew: nil)))
    }
}
