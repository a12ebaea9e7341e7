import HTTPServer
import Locking
import TestSupport
import Testing

/// What is taken for a request, and what is not.
struct RequestTests {
    @Test func `a request reaches its handler with path, query, headers, cookies and address`() async throws {
        let seen = Locked<Request?>(nil)
        let handler = TestHandler(responding: { request in
            seen.withLock { $0 = request }
            return Response(status: 201, text: "made", headers: [.init("X-More", "1"), .init("X-Bad", "a\r\nb")])
        })
        try await serving(handler) { server in
            let answer = try await ask(
                server,
                "POST /a%20b/c?x=1%2B&y=%C3%A9+z&x=2&flag HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nx-one: 2\r\nCookie: s=1; t=2; s=3\r\n"
                    + "Content-Length: 5\r\n\r\nhello")
            #expect(answer.status == 201)
            #expect(answer.body == "made")
            #expect(answer.head.contains("X-More: 1"))
            #expect(!answer.head.contains("X-Bad"))
        }
        let request = try #require(seen.withLock { $0 })
        #expect(request.head.method == .post)
        #expect(request.head.path == "/a b/c")
        #expect(request.head.query == [.init("x", "1+"), .init("y", "é z"), .init("x", "2"), .init("flag", "")])
        #expect(request.head.values("X-ONE") == ["1", "2"])
        #expect(request.head.value("x-one") == nil)
        #expect(request.head.cookies("s") == ["1", "3"])
        #expect(request.head.remoteAddress == "127.0.0.1")
        #expect(request.body == Array("hello".utf8))
    }

    @Test func `HEAD gets the head of GET and no body`() async throws {
        try await serving { server in
            let client = try RawClient(port: server.port)
            client.send("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            let text = try await client.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 200"))
            #expect(text.contains("Content-Length: "))
            #expect(text.hasSuffix("\r\n\r\n"))
        }
    }

    @Test(arguments: [
        ("GET", 200), ("HEAD", 200), ("PUT", 405), ("DELETE", 405), ("PATCH", 405), ("OPTIONS", 405), ("TRACE", 405),
        ("BREW", 501), ("get", 501), ("PROPFIND", 501),
    ])
    func `only GET, HEAD and POST are served`(method: String, status: Int) async throws {
        try await serving { server in
            let client = try RawClient(port: server.port)
            client.send("\(method) / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 \(status)"))
        }
    }

    @Test(arguments: [
        "/../etc/passwd", "/a/../../b", "/%2e%2e/x", "/a/%2E%2E", "/.", "/a/./b", "/..", "/a%00b", "/%zz", "/%4", "/%",
        "/a%ff", "/a\\b", "/%0d%0aX:1", "*", "foo", "http:/x", "ftp://h/x", "/?a=%00", "/?a=%g1", "/a%5C..%5Cb",
        "/%c0%ae%c0%ae/x", "//x/../y",
    ])
    func `odd targets are refused`(target: String) async throws {
        try await serving { server in
            let answer = try await ask(server, "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(answer.status == 400)
        }
    }

    @Test(arguments: [
        ("/", "/"), ("/a/b", "/a/b"), ("/..a/b..", "/..a/b.."), ("http://host:1/x?y=1", "/x"), ("HTTP://host", "/"),
        ("http://host?y=1", "/"), ("/a#b", "/a"), ("/%C3%A9", "/é"), ("//a", "//a"),
    ])
    func `good targets are decoded once`(target: String, path: String) {
        #expect(RequestTarget(target)?.path == path)
    }

    @Test func `a query has a bounded number of items`() {
        #expect(RequestTarget("/?" + String(repeating: "a&", count: 100))?.query.count == 100)
        #expect(RequestTarget("/?" + String(repeating: "a&", count: 101)) == nil)
    }

    @Test(arguments: [
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n", "Content-Length: 5x\r\n",
        "Transfer-Encoding: gzip\r\n", "Host: other\r\nContent-Length: 5\r\nContent-Length: 5\r\n",
    ])
    func `a body whose length is unclear is refused`(headers: String) async throws {
        try await serving(TestHandler(responding: { _ in Response(status: 200) })) { server in
            let client = try RawClient(port: server.port)
            client.send("POST / HTTP/1.1\r\nHost: h\r\n\(headers)\r\nhello")
            let text = try await client.readToEnd()
            // Refused with a status, or hung up on; never served.
            #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 4") || text.hasPrefix("HTTP/1.1 5"))
        }
    }

    @Test(arguments: [
        "\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n", "GET /a\u{0}b HTTP/1.1\r\nHost: h\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
        "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func `what is not HTTP does no harm`(text: String) async throws {
        try await serving(configure: { $0.requestLimit = .milliseconds(500) }) { server in
            let client = try RawClient(port: server.port)
            client.send(text)
            client.finishSending()
            _ = try await client.readToEnd(within: .seconds(5))
            #expect(try await ask(server, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
        }
    }

    @Test func `requests in one segment are answered in their order`() async throws {
        try await serving { server in
            let client = try RawClient(port: server.port)
            let requests = (1...20).map {
                "GET /\($0) HTTP/1.1\r\nHost: h\r\n\($0 == 20 ? "Connection: close\r\n" : "")\r\n"
            }
            client.send(requests.joined())
            var text = try await client.readToEnd()
            for number in 1...20 {
                let answer = try #require(Answer(text))
                #expect(answer.body.hasPrefix("get /\(number) "))
                text = answer.rest
            }
            #expect(text.isEmpty)
        }
    }

    @Test(arguments: [
        ("127.0.0.1:8470", "127.0.0.1:8470", true), ("localhost:0", "127.0.0.1:0", true),
        ("[::1]:80", "[::1]:80", true),
        ("0.0.0.0:1", "0.0.0.0:1", false), ("[::]:1", "[::]:1", false), ("10.0.0.1:65535", "10.0.0.1:65535", false),
        ("127.9.9.9:1", "127.9.9.9:1", true), ("[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1", true),
    ])
    func `addresses to listen on`(text: String, description: String, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.description == description)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "8470", "127.0.0.1", ":8470", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "example.com:80", "::1:80",
        "[::1]", "127.0.0.1:8 ",
    ])
    func `what is no address to listen on`(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
