import CommandLineArguments
import ControlPlane
import HTTPServer
import TestSupport
import Testing

@testable import push_fanout

/// Where the control plane is served, and what is refused at the start.
struct ServingTests {
    private static let long = "0123456789abcdef"

    @Test func `it listens on loopback unless told otherwise`() throws {
        let serving = try #require(try Given.configuration([:]).serving())
        #expect(serving.address.description == "127.0.0.1:8470")
        #expect(serving.operatorToken == nil)
        #expect(serving.viewerToken == nil)
        #expect(serving.webhookSecret == nil)
        #expect(try Given.configuration(["PUSH_LISTEN": "off"]).serving() == nil)
    }

    @Test(arguments: [
        (["PUSH_LISTEN": "8470"], "PUSH_LISTEN"), (["PUSH_LISTEN": "example.com:80"], "PUSH_LISTEN"),
        (["PUSH_LISTEN": "0.0.0.0:8470"], "PUSH_OPERATOR_TOKEN"),
        (["PUSH_LISTEN": "[::]:8470", "PUSH_VIEWER_TOKEN": long], "PUSH_OPERATOR_TOKEN"),
        (["PUSH_OPERATOR_TOKEN": "short"], "PUSH_OPERATOR_TOKEN"),
        (["PUSH_VIEWER_TOKEN": "fifteen-letters"], "PUSH_VIEWER_TOKEN"),
        (["PUSH_WEBHOOK_SECRET": "with a space in it"], "PUSH_WEBHOOK_SECRET"),
        (["PUSH_OPERATOR_TOKEN": long, "PUSH_VIEWER_TOKEN": long], "PUSH_VIEWER_TOKEN"),
        (["PUSH_OPERATOR_TOKEN_FILE": "/nowhere"], "PUSH_OPERATOR_TOKEN"),
    ])
    func `what guards nothing is refused by its name`(environment: [String: String], name: String) throws {
        let error = #expect(throws: ConfigurationError.self) { _ = try Given.configuration(environment).serving() }
        #expect(error?.description.contains(name) == true)
        #expect(error?.description.contains(Self.long) == false)
    }

    @Test func `with an operator's token any address will do`() throws {
        let serving = try #require(
            try Given.configuration(["PUSH_LISTEN": "0.0.0.0:0", "PUSH_OPERATOR_TOKEN": Self.long + "\n"]).serving())
        #expect(!serving.address.isLoopback)
        #expect(serving.operatorToken?.matches(Self.long) == true)
        #expect("\(serving)".contains(Self.long) == false)
    }
}
