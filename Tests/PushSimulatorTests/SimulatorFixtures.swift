internal import Cryptography
internal import FoundationEssentials
internal import JSONWebToken
internal import TestSupport

@testable internal import PushSimulator

/// What most tests of the validators share: a clock that stands still, keys, a request that passes.
enum Sample {
    static let now = Date(timeIntervalSince1970: 1_790_000_000)
    static let topic = "com.example.contacts"
    static let deviceToken = String(repeating: "ab", count: 32)
    static let payload = """
        {"aps":{"alert":{"title":"Anna updated her details","body":"Phone number and address"},"badge":3,\
        "content-available":1,"sound":"default","thread-id":"contact_updated"},\
        "id":"5d5f3c9e-6c52-4e6a-8a58-11f64c1d5e33","kind":"contact_updated"}
        """

    static func providerToken(
        keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ", issuedAt: JSONValue = .integer(1_790_000_000),
        key: PrivateKey = TestKeys.p256
    ) throws -> String {
        try JSONWebToken.sign(
            header: ["kid": .string(keyID)], claims: ["iss": .string(teamID), "iat": issuedAt], key: key,
            algorithm: .es256)
    }

    static let key = APNSKey(
        keyID: "ABC123DEFG", teamID: "DEF123GHIJ", publicKey: TestKeys.p256.publicKey, topics: [topic])

    // Signed once: the text of a token is what the connection knows it by.
    static let token = make { try providerToken() }

    private static func make(_ body: () throws -> String) -> String {
        do { return try body() } catch { preconditionFailure("cannot sign for the tests: \(error)") }
    }

    /// A push that every check of F.2 lets through.
    static var push: SimulatedRequest {
        SimulatedRequest(
            path: "/3/device/\(deviceToken)",
            headers: [
                ("authorization", "bearer \(token)"), ("apns-topic", topic), ("apns-push-type", "alert"),
                ("apns-priority", "10"), ("apns-id", "5d5f3c9e-6c52-4e6a-8a58-11f64c1d5e33"),
                ("apns-expiration", "1790086400"), ("apns-collapse-id", "contact_updated:7"),
            ], body: Array(payload.utf8))
    }

    static let account = ServiceAccount(
        email: "push@p.iam.gserviceaccount.com", projectID: "p", keyID: "k1", publicKey: TestKeys.rsa.publicKey)
    static let tokenURI = "https://127.0.0.1:1/token"
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    static let message = """
        {"message":{"android":{"priority":"HIGH","ttl":"2419200s"},"data":{"id":"1","kind":"system"},"token":"t:1"}}
        """
}

extension SimulatedRequest {
    /// The same request with one header replaced, or without it.
    func with(_ name: String, _ value: String?) -> SimulatedRequest {
        var copy = self
        copy.headers.removeAll { $0.name == name }
        if let value { copy.headers.append((name, value)) }
        return copy
    }

    func with(path: String) -> SimulatedRequest {
        var copy = self
        copy.path = path
        return copy
    }

    func with(method: String) -> SimulatedRequest {
        var copy = self
        copy.method = method
        return copy
    }

    func with(body: String) -> SimulatedRequest {
        var copy = self
        copy.body = Array(body.utf8)
        copy.bodyCount = copy.body.count
        return copy
    }
}

extension SimulatedAnswer {
    var text: String { String(decoding: self.body, as: UTF8.self) }

    func header(_ name: String) -> String? { self.headers.first { $0.name == name }?.value }
}
