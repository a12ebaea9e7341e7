package import Cryptography

extension JSONWebToken {
    /// The two algorithms of the two providers.
    package enum Algorithm: String, Sendable {
        case es256 = "ES256"
        case rs256 = "RS256"
    }

    /// Makes a signed JWT in compact form.
    ///
    /// Names keep the order in which they are written. `alg` is put first in the header by `algorithm`, so that the two
    /// cannot disagree.
    /// - Throws: `KeyError`: the key is of another kind than `algorithm` needs, or OpenSSL refuses.
    package static func sign(
        header: KeyValuePairs<String, JSONValue>,
        claims: KeyValuePairs<String, JSONValue>,
        key: PrivateKey,
        algorithm: Algorithm
    ) throws(KeyError) -> String {
        let header = self.members([("alg", .string(algorithm.rawValue))] + header.map { ($0.key, $0.value) })
        let claims = self.members(claims.map { ($0.key, $0.value) })
        let input = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))"
        let signature =
            switch algorithm {
            case .es256: try key.sign(es256: Array(input.utf8))
            case .rs256: try key.sign(rs256: Array(input.utf8))
            }
        return "\(input).\(Base64URL.encode(signature))"
    }

    private static func members(_ members: [(String, JSONValue)]) -> String {
        "{\(members.map { "\(JSONValue.string($0.0).json):\($0.1.json)" }.joined(separator: ","))}"
    }

    /// Whether the header says ES256 and the signature is `key`'s: 64 raw bytes. DER is false, as at Apple.
    package func verifyES256(with key: PublicKey) -> Bool {
        self.algorithm == Algorithm.es256.rawValue && key.verify(es256Raw: self.signature, over: self.signingInput)
    }

    /// Whether the header says RS256 and the signature is `key`'s.
    package func verifyRS256(with key: PublicKey) -> Bool {
        self.algorithm == Algorithm.rs256.rawValue && key.verify(rs256: self.signature, over: self.signingInput)
    }
}
