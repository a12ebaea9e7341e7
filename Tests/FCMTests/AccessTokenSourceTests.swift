internal import Cryptography
internal import FCM
internal import HTTPTransport
internal import JSONWebToken
internal import Locking
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Date

/// A token endpoint that answers what the test tells it, in order; asked more often, it fails the test.
private final class ScriptedEndpoint: HTTPTransport {
    private struct State {
        var answers: [Result<HTTPAnswer, HTTPFailure>]
        var requests: [HTTPRequest] = []
        var isHeld = false
        var held: [@Sendable () -> Void] = []
    }

    private let state: Locked<State>
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    init(_ answers: [Result<HTTPAnswer, HTTPFailure>], isHeld: Bool = false) {
        self.state = Locked(State(answers: answers, isHeld: isHeld))
        (self.arrivals, self.arrived) = AsyncStream.makeStream()
    }

    func send(_ requests: [HTTPRequest]) -> AsyncStream<[HTTPExchange]> {
        AsyncStream { continuation in
            for request in requests {
                let result = self.state.withLock { state -> Result<HTTPAnswer, HTTPFailure> in
                    state.requests.append(request)
                    guard !state.answers.isEmpty else {
                        Issue.record("asked for a token too often")
                        return .failure(HTTPFailure(fate: .notSent, reason: "script ended"))
                    }
                    return state.answers.removeFirst()
                }
                let answer: @Sendable () -> Void = {
                    continuation.yield([HTTPExchange(id: request.id, result: result, duration: .zero)])
                    continuation.finish()
                }
                let isHeld = self.state.withLock { state in
                    if state.isHeld { state.held.append(answer) }
                    return state.isHeld
                }
                if !isHeld { answer() }
                self.arrived.yield()
            }
        }
    }

    func renewConnections() {}

    var requests: [HTTPRequest] { self.state.withLock { $0.requests } }

    /// Waits for a request to come in.
    func arrival() async {
        for await _ in self.arrivals { return }
    }

    /// Answers what is held back, and from now on at once.
    func release() {
        let held = self.state.withLock { state in
            defer { state.held = [] }
            state.isHeld = false
            return state.held
        }
        for answer in held { answer() }
    }
}

/// A clock that stands where the test puts it; it begins at 1,790,000,000 seconds.
private final class HandClock: Sendable {
    private let moment = Locked(Moment(wall: Date(timeIntervalSince1970: 1_790_000_000), monotonic: .now))

    func advance(seconds: Double) {
        self.moment.withLock { moment in
            moment.wall.addTimeInterval(seconds)
            moment.monotonic = moment.monotonic.advanced(by: .seconds(seconds))
        }
    }

    var time: TimeSource { TimeSource { self.moment.withLock { $0 } } }
}

@Suite struct AccessTokenSourceTests {
    private typealias Answer = Result<HTTPAnswer, HTTPFailure>

    private static func answer(_ status: Int, _ body: String, date: String? = nil) -> Answer {
        .success(HTTPAnswer(status: status, headers: date.map { ["date": $0] } ?? [:], body: Array(body.utf8)))
    }

    private static func grant(_ token: String, expiresIn: String = "3599") -> Answer {
        self.answer(200, "{\"access_token\":\"\(token)\",\"expires_in\":\(expiresIn),\"token_type\":\"Bearer\"}")
    }

    private static let unreachable = Answer.failure(HTTPFailure(fate: .notSent, reason: "connection_refused"))

    private static func source(_ endpoint: ScriptedEndpoint, _ clock: HandClock = HandClock()) throws
        -> AccessTokenSource
    {
        let members: [String: JSONValue] = [
            "client_email": "push@example-app.iam.gserviceaccount.com",
            "private_key": .string(try TestKeys.rsa.pem), "private_key_id": "key-1", "project_id": "example-app",
            "token_uri": "https://127.0.0.1:1/token",
        ]
        let account = try ServiceAccount(json: Array(JSONValue.object(members).json.utf8))
        return AccessTokenSource(account: account, transport: endpoint, time: clock.time, random: { 0 })
    }

    // MARK: - The request

    @Test func `the request is what Google asks for`() async throws {
        let endpoint = ScriptedEndpoint([Self.grant("first")])
        #expect(try await Self.source(endpoint).token().authorization == "Bearer first")
        let request = try #require(endpoint.requests.first)
        #expect(request.url == "https://127.0.0.1:1/token")
        #expect(request.headers.map(\.name) == ["content-type"])
        #expect(request.headers.map(\.value) == ["application/x-www-form-urlencoded"])
        let form = String(decoding: request.body, as: UTF8.self)
        let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        #expect(form.hasPrefix(prefix))
        let jwt = try JSONWebToken(compact: String(form.dropFirst(prefix.count)))
        #expect(jwt.verifyRS256(with: TestKeys.rsa.publicKey))
        #expect(jwt.header == ["alg": "RS256", "typ": "JWT", "kid": "key-1"])
        #expect(
            jwt.claims == [
                "iss": "push@example-app.iam.gserviceaccount.com",
                "scope": "https://www.googleapis.com/auth/firebase.messaging",
                "aud": "https://127.0.0.1:1/token", "iat": 1_789_999_990, "exp": 1_790_003_590,
            ]
        )
    }

    @Test func `a printed token shows nothing of it`() async throws {
        let token = try await Self.source(ScriptedEndpoint([Self.grant("ya29.secret")])).token()
        #expect("\(token) \(String(reflecting: token))" == "access token 1 access token 1")
    }

    // MARK: - One exchange

    @Test func `a hundred callers wait for one exchange`() async throws {
        let endpoint = ScriptedEndpoint([Self.grant("only")], isHeld: true)
        let source = try Self.source(endpoint)
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask { try await source.token().authorization }
            }
            await endpoint.arrival()
            endpoint.release()
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(tokens == [String](repeating: "Bearer only", count: 100))
        #expect(endpoint.requests.count == 1)
    }

    @Test func `a hundred callers share one failure, and none of them tries again at once`() async throws {
        let endpoint = ScriptedEndpoint([Self.unreachable], isHeld: true)
        let source = try Self.source(endpoint)
        let failures = await withTaskGroup(of: AccessTokenError?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    do throws(AccessTokenError) {
                        _ = try await source.token()
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            await endpoint.arrival()
            endpoint.release()
            return await group.reduce(into: [AccessTokenError?]()) { $0.append($1) }
        }
        let expected = AccessTokenError.unavailable(reason: "the token endpoint was not reached (connection_refused)")
        #expect(failures == [AccessTokenError?](repeating: expected, count: 100))
    }

    @Test func `a caller that is cancelled does not end the exchange of the others`() async throws {
        let endpoint = ScriptedEndpoint([Self.grant("only")], isHeld: true)
        let source = try Self.source(endpoint)
        let first = Task { try await source.token() }
        await endpoint.arrival()
        first.cancel()
        endpoint.release()
        #expect(try await source.token().authorization == "Bearer only")
        #expect(try await first.value.authorization == "Bearer only")
    }

    // MARK: - Renewal

    @Test func `a token is renewed 5 minutes before its end, and nobody waits for it`() async throws {
        let endpoint = ScriptedEndpoint([Self.grant("first"), Self.grant("second")])
        let clock = HandClock()
        let source = try Self.source(endpoint, clock)
        _ = try await source.token()
        clock.advance(seconds: 3298)
        #expect(try await source.token().authorization == "Bearer first")
        await source.settle()
        #expect(endpoint.requests.count == 1)
        clock.advance(seconds: 1)
        #expect(try await source.token().authorization == "Bearer first")
        await source.settle()
        #expect(endpoint.requests.count == 2)
        #expect(try await source.token().authorization == "Bearer second")
    }

    @Test func `a token that has ended is not sent`() async throws {
        let endpoint = ScriptedEndpoint([Self.grant("first"), Self.grant("second")])
        let clock = HandClock()
        let source = try Self.source(endpoint, clock)
        _ = try await source.token()
        clock.advance(seconds: 3580)
        #expect(try await source.token().authorization == "Bearer second")
    }

    @Test func `a renewal that fails leaves the token that still holds`() async throws {
        let endpoint = ScriptedEndpoint([
            Self.grant("first"), Self.unreachable, Self.answer(503, ""), Self.unreachable, Self.grant("second"),
        ])
        let clock = HandClock()
        let source = try Self.source(endpoint, clock)
        _ = try await source.token()
        clock.advance(seconds: 3300)
        for _ in 0..<10 {
            #expect(try await source.token().authorization == "Bearer first")
            await source.settle()
        }
        #expect(endpoint.requests.count == 2)
        #expect(await source.lastFailure != nil)
        clock.advance(seconds: 2)
        #expect(try await source.token().authorization == "Bearer first")
        await source.settle()
        #expect(endpoint.requests.count == 3)
        // Past its end the failure shows.
        clock.advance(seconds: 280)
        await #expect(throws: AccessTokenError.self) { try await source.token() }
        clock.advance(seconds: 5)
        #expect(try await source.token().authorization == "Bearer second")
        #expect(await source.lastFailure == nil)
    }

    @Test func `failures are not kept, and followed by pauses of 1 to 30 seconds`() async throws {
        let endpoint = ScriptedEndpoint([Answer](repeating: Self.unreachable, count: 8) + [Self.grant("at-last")])
        let clock = HandClock()
        let source = try Self.source(endpoint, clock)
        for (index, pause) in [1.0, 2, 4, 8, 16, 30, 30, 30].enumerated() {
            await #expect(throws: AccessTokenError.self) { try await source.token() }
            clock.advance(seconds: pause - 0.1)
            await #expect(throws: AccessTokenError.self) { try await source.token() }
            #expect(endpoint.requests.count == index + 1)
            clock.advance(seconds: 0.2)
        }
        #expect(try await source.token().authorization == "Bearer at-last")
    }

    // MARK: - 401

    @Test func `a refused token is replaced once, whoever reports it`() async throws {
        let endpoint = ScriptedEndpoint([Self.grant("first"), Self.grant("second")])
        let source = try Self.source(endpoint)
        let first = try await source.token()
        for _ in 0..<50 {
            #expect(await source.invalidate(first))
        }
        let second = try await source.token()
        #expect(second.authorization == "Bearer second")
        #expect(await source.invalidate(first))
        #expect(try await source.token() == second)
        #expect(endpoint.requests.count == 2)
    }

    @Test func `when the new token is refused too, the token is not at fault`() async throws {
        let endpoint = ScriptedEndpoint([Self.grant("first"), Self.grant("second"), Self.grant("third")])
        let clock = HandClock()
        let source = try Self.source(endpoint, clock)
        #expect(await source.invalidate(try await source.token()))
        let second = try await source.token()
        #expect(await source.invalidate(second) == false)
        #expect(try await source.token() == second)
        clock.advance(seconds: 31)
        #expect(await source.invalidate(second))
        #expect(try await source.token().authorization == "Bearer third")
    }

    // MARK: - Answers of every shape

    /// Seconds a token is used for before it is renewed.
    @Test(arguments: [
        ("3599", 3299), ("60", 30), ("1e300", 3300), ("999999999999999999999", 3300), ("9223372036854775807", 3300),
        ("\"3599\"", 3299), ("\"soon\"", 300), ("null", 300), ("[]", 300), ("1800.7", 1500),
    ])
    func `expires_in is respected as far as it makes sense`(_ expiresIn: String, _ seconds: Double) async throws {
        let endpoint = ScriptedEndpoint([Self.grant("first", expiresIn: expiresIn), Self.grant("second")])
        let clock = HandClock()
        let source = try Self.source(endpoint, clock)
        _ = try await source.token()
        clock.advance(seconds: seconds - 0.5)
        _ = try await source.token()
        await source.settle()
        #expect(endpoint.requests.count == 1)
        clock.advance(seconds: 1)
        _ = try await source.token()
        await source.settle()
        #expect(endpoint.requests.count == 2)
    }

    @Test(arguments: [
        "", "<html><body>OK</body></html>", "null", "[]", "7", "\"token\"", "{}", "{\"access_token\":",
        "{\"access_token\":null}", "{\"access_token\":5,\"expires_in\":3599}", "{\"access_token\":\"\"}",
        "{\"access_token\":\"a b\"}", "{\"access_token\":\"a\\r\\nx-evil: 1\"}", "{\"access_token\":\"é\"}",
        "{\"access_token\":\"a\",\"token_type\":\"mac\"}", "{\"access_token\":\"a\",\"expires_in\":0}",
        "{\"access_token\":\"a\",\"expires_in\":-5}", "\u{0}\u{1}\u{2}",
        "{\"access_token\":\"a\",\"expires_in\":1e999}",
    ])
    func `200 without a usable token is no token, and worth another try`(_ body: String) async throws {
        let clock = HandClock()
        let endpoint = ScriptedEndpoint([Self.answer(200, body), Self.grant("next")])
        let source = try Self.source(endpoint, clock)
        let error = try await Self.failure(of: source)
        guard case .unavailable = error else {
            Issue.record("\(error)")
            return
        }
        clock.advance(seconds: 1)
        #expect(try await source.token().authorization == "Bearer next")
    }

    @Test(arguments: [100, 204, 408, 429, 500, 502, 503, 599, 999])
    func `an answer that will pass is worth another try`(_ status: Int) async throws {
        for body in ["", "<html>", "{\"error\":\"invalid_grant\"}"] {
            let error = try await Self.failure(of: Self.source(ScriptedEndpoint([Self.answer(status, body)])))
            #expect(error == .unavailable(reason: "the token endpoint answered \(status)"))
        }
    }

    @Test(arguments: [
        (
            400, "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid JWT Signature.\"}", "invalid_grant",
            "revoked"
        ),
        (
            400, "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid grant: account not found\"}",
            "invalid_grant", "deleted or disabled"
        ),
        (400, "{\"error\":\"invalid_scope\",\"error_description\":\"Invalid OAuth scope.\"}", "invalid_scope", "role"),
        (401, "{\"error\":\"unauthorized_client\"}", "unauthorized_client", "role"),
        (400, "{\"error\":\"unsupported_grant_type\"}", "unsupported_grant_type", "one key file"),
        (
            400, "{\"error\":{\"code\":400,\"message\":\"m\",\"status\":\"INVALID_ARGUMENT\"}}", "INVALID_ARGUMENT",
            "key file"
        ),
        (400, "", "http_400", "token_uri"), (404, "<html>Not Found</html>", "http_404", "token_uri"),
        (403, "[1,2]", "http_403", "token_uri"), (302, "", "http_302", "token_uri"),
        (400, "{\"error\":5,\"error_description\":[]}", "http_400", "token_uri"),
    ])
    func `a refusal is told with what to do`(
        _ status: Int,
        _ body: String,
        _ expected: String,
        _ word: String
    ) async throws {
        let error = try await Self.failure(of: Self.source(ScriptedEndpoint([Self.answer(status, body)])))
        guard case .rejected(let name, _, let skew) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(name == expected)
        #expect(skew == nil)
        #expect(error.fix.contains(word), "\(error)")
        #expect(error.description.hasPrefix("no access token for FCM: \(expected)"))
    }

    /// The clock of the test stands at Mon, 21 Sep 2026 14:13:20 GMT.
    @Test(
        arguments: [
            ("Mon, 21 Sep 2026 14:05:20 GMT", 480, "480 seconds ahead of"),
            ("Mon, 21 Sep 2026 16:13:20 GMT", -7200, "7200 seconds behind"),
            ("Mon, 21 Sep 2026 14:13:18 GMT", 2, "clock agrees"),
            ("yesterday", nil, "Check this machine's clock"), ("", nil, "Check this machine's clock"),
            (nil, nil, "Check this machine's clock"),
        ] as [(String?, Int64?, String)])
    func `a wrong clock is told as such`(_ date: String?, _ skew: Int64?, _ word: String) async throws {
        let body = """
            {"error":"invalid_grant","error_description":"Invalid JWT: Token must be a short-lived token (60 minutes) \
            and in a reasonable timeframe. Check your iat and exp values in the JWT claim."}
            """
        let endpoint = ScriptedEndpoint([Self.answer(400, body, date: date)])
        let error = try await Self.failure(of: Self.source(endpoint))
        guard case .rejected("invalid_grant", _, let found) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(found == skew.map { .seconds($0) })
        #expect(error.description.contains(word), "\(error)")
    }

    @Test func `texts of the answer are made fit for a log`() async throws {
        let echo = String(repeating: "eyJhbGciOiJSUzI1NiJ9", count: 10)
        let body: JSONValue = .object([
            "error": "invalid_request",
            "error_description": .string(
                "bad\r\nassertion \(echo) \u{1B}[31m " + String(repeating: "long ", count: 200)),
        ])
        let endpoint = ScriptedEndpoint([Self.answer(400, body.json)])
        let error = try await Self.failure(of: Self.source(endpoint))
        guard case .rejected(_, let description, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(description.hasPrefix("bad assertion … [31m long long"))
        #expect(description.count == 200)
    }

    private static func failure(of source: AccessTokenSource) async throws -> AccessTokenError {
        do throws(AccessTokenError) {
            _ = try await source.token()
        } catch {
            return error
        }
        Issue.record("there is a token")
        throw CancellationError()
    }
}
