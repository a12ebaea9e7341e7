import Cryptography
import FCM
import FoundationEssentials
import HTTPTransport
import JSONWebToken

/// Keys, key files, tokens: what an operator gives us and what the token endpoint answers.
extension FuzzTarget {
    static let pemKey = FuzzTarget(
        "pem-key",
        [
            "text": Corpus(
                .bytes, ExampleKeys.pemTexts,
                words: ["-----BEGIN PRIVATE KEY-----", "\\n", "ENCRYPTED", "Proc-Type: 4,ENCRYPTED\n"])
        ]
    ) { input throws(FuzzFinding) in
        let text = input.text
        switch Result(catching: { () throws(KeyError) in try PrivateKey(pem: text) }) {
        case .success(let key):
            try expectSigns(key)
            return .read("\(key.kind)".hasPrefix("RSA") ? "RSA" : "\(key.kind)")
        case .failure(let error):
            try Self.checkKeeps(text, secretOutOf: error.description)
            return .refused(error.code.rawValue)
        }
    }

    /// A key that was read fits one provider, or says why not.
    private static func expectSigns(_ key: PrivateKey) throws(FuzzFinding) {
        do throws(KeyError) {
            try key.requireP256()
            let raw = try key.sign(es256: [1, 2, 3])
            try expectKey(raw.count == 64)
        } catch {
            guard error.code == .wrongKind else { throw FuzzFinding("a P-256 key does not sign: \(error)") }
        }
    }

    private static func expectKey(_ isRight: Bool) throws(KeyError) {
        if !isRight { throw KeyError(.failed, "not 64 bytes") }
    }

    /// No run of 16 characters of the input's base64 stands in a message.
    private static func checkKeeps(_ text: String, secretOutOf message: String) throws(FuzzFinding) {
        try expect(!message.isEmpty && message.utf8.count <= 1000, "\(message.utf8.count) bytes of message")
        let secrets = ExampleKeys.secretRuns
        try expect(!secrets.contains { message.contains($0) }, "a piece of the key in: \(message)")
    }

    static let serviceAccount = FuzzTarget(
        "service-account",
        [
            "file": Corpus(
                .json, ExampleKeys.serviceAccounts, words: ["https://", "\\u0000", "a@b", "\u{FEFF}"], unchangedOneIn: 4
            )
        ]
    ) { input throws(FuzzFinding) in
        switch Result(catching: { () throws(ServiceAccountError) in try ServiceAccount(json: input.bytes) }) {
        case .success(let account):
            for text in [account.clientEmail, account.keyID, account.projectID, account.tokenURL] {
                try expect(!text.isEmpty && text.isPrintableASCII && !text.contains(" "), "the field \(text)")
            }
            try expect(account.tokenURL.hasPrefix("https://"), "the address \(account.tokenURL)")
            try expect(!account.projectID.contains("/"), "the project \(account.projectID)")
            return .read("account")
        case .failure(let error):
            try expect(!error.faults.isEmpty && error.faults.count <= 5, "\(error.faults.count) faults")
            try Self.checkKeeps(input.text, secretOutOf: error.description)
            return .refused("\(error.faults.count) \(error.faults.first?.prefix(20) ?? "")")
        }
    }

    static let accessToken = FuzzTarget(
        "access-token",
        [
            "body": Corpus(
                .json,
                [
                    "{\"access_token\":\"ya29.c.b0Aaekm1K\",\"expires_in\":3599,\"token_type\":\"Bearer\"}",
                    "{\"access_token\":\"ya29\",\"expires_in\":\"3599\",\"token_type\":\"bearer\",\"scope\":\"s\"}",
                    "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.\"}",
                    "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid grant: account not found\"}",
                    "{\"error\":{\"code\":503,\"message\":\"The service is currently unavailable.\",\"status\":\"UNAVAILABLE\"}}",
                    "{\"error\":\"temporarily_unavailable\"}", "{\"error\":\"invalid_scope\"}", "<html>", "",
                ], unchangedOneIn: 4),
            "status": Corpus(
                .bytes,
                [
                    "200", "200", "400", "400", "401", "403", "404", "408", "425", "429", "500", "503", "301", "0",
                    "-1", "204", "999",
                ], unchangedOneIn: 1),
            "date": Corpus(
                .bytes, ["", "Sat, 14 Nov 2026 08:00:30 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"], unchangedOneIn: 2),
        ]
    ) { input throws(FuzzFinding) in
        let status = input.text(1).flatMap { Int($0) } ?? 0
        let answer = HTTPAnswer(status: status, headers: input.text(2).map { ["date": $0] } ?? [:], body: input.bytes)
        switch OAuthExchange.read(answer, now: 1_794_643_200) {
        case .success(let grant):
            try expect(status == 200, "a token from status \(status)")
            try expect(grant.lifetime > .zero && grant.lifetime <= .seconds(3600), "good for \(grant.lifetime)")
            try expect(
                !grant.token.isEmpty && grant.token.utf8.count <= 8192
                    && grant.token.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "the token \(grant.token)")
            return .read("token")
        case .failure(let error):
            let text = error.description
            try expect(text.utf8.count <= 800 && text.replacing("…", with: "").isPrintableASCII, "the error \(text)")
            switch error {
            case .unavailable: return .refused("unavailable")
            case .rejected(let word, _, let skew):
                try expect((300..<500).contains(status), "rejected by status \(status)")
                try expect(!word.isEmpty, "an empty word")
                return .read("rejected\(skew == nil ? "" : ", clock")")
            }
        }
    }

    // MARK: - JSON Web Tokens

    private static let tokens: [String] =
        [
            "{\"alg\":\"ES256\",\"kid\":\"ABC123DEFG\"}|{\"iss\":\"DEF123GHIJ\",\"iat\":1794643200}",
            "{\"alg\":\"RS256\",\"typ\":\"JWT\"}|{\"iss\":\"a@b\",\"iat\":1794643200,\"exp\":1794646800,\"aud\":\"https://x\"}",
            "{\"alg\":\"none\"}|{\"iat\":\"1794643200\",\"exp\":1e10}", "{}|[]",
        ].map { text in
            let parts = text.split(separator: "|").map { Base64URL.encode(Array($0.utf8)) }
            return parts.joined(separator: ".") + "." + String(repeating: "A", count: 86)
        }

    static let jsonWebToken = FuzzTarget("json-web-token", ["text": Corpus(.bytes, Self.tokens, unchangedOneIn: 20)]) {
        input throws(FuzzFinding) in
        let text = input.text
        switch Result(catching: { () throws(JSONWebTokenError) in try JSONWebToken(compact: text) }) {
        case .success(let token):
            let whole = String(decoding: token.signingInput, as: UTF8.self) + "." + Base64URL.encode(token.signature)
            try expect(whole.isSame(as: text), "it does not come together again")
            try expect(token.header["alg"]?.string == token.algorithm, "alg is \(token.algorithm)")
            return .read("\(token.issuedAt)".prefix { $0 != "(" } + " " + "\(token.expiresAt)".prefix { $0 != "(" })
        case .failure(let error):
            return .refused("\(error)".isPrintableASCII ? Self.bounded(error) : "unprintable")
        }
    }

    private static func bounded(_ error: JSONWebTokenError) -> String {
        if case .notThreeParts = error { "not three parts" } else { error.description }
    }

    static let base64URL = FuzzTarget(
        "base64url",
        [
            "text": Corpus(
                .bytes, ["", "AA", "AAA", "AAAA", "-_-_", "Zm9vYmFy", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"])
        ]
    ) { input throws(FuzzFinding) in
        let bytes = Base64URL.decode(Base64URL.encode(input.bytes))
        try expect(bytes == input.bytes, "what was encoded is not decoded")
        guard let bytes = Base64URL.decode(input.text) else { return .refused("none") }
        try expect(Base64URL.encode(bytes) == input.text, "two spellings of the same bytes")
        return .read("\(bytes.count % 3)")
    }

    static let jsonValue = FuzzTarget(
        "json-value",
        [
            "text": Corpus(
                .json,
                ["{\"a\":1,\"b\":[true,null,\"x\\n\\u00e9\"],\"c\":{\"d\":-1.5e3}}", "[1,2,3]", "\"x\"", "-0", "1.0"])
        ]
    ) { input throws(FuzzFinding) in
        guard let value = JSONValue(json: input.bytes) else { return .refused("none") }
        let text = value.json
        guard let again = JSONValue(json: Array(text.utf8), longest: .max) else {
            throw FuzzFinding("\(text.prefix(200)) is no JSON")
        }
        // A fraction too small for a Double is gone the second time: the number is a whole one from then on.
        let third = JSONValue(json: Array(again.json.utf8), longest: .max)
        try expect(again == value || third == again, "\(text.prefix(200)) is another value")
        return .read(value.typeName)
    }
}
