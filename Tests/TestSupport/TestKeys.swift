package import Cryptography

/// Keys for tests, made by OpenSSL once per process: none stands in a file.
package enum TestKeys {
    package static let p256 = make { try .generateP256() }
    package static let otherP256 = make { try .generateP256() }
    package static let p384 = make { try .generateP384() }
    package static let rsa = make { try .generateRSA(bits: 2048) }
    package static let otherRSA = make { try .generateRSA(bits: 2048) }

    /// x of the public key in RFC 7515, appendix A.3.
    package static let rfc7515X = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    /// y of the same key.
    package static let rfc7515Y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

    private static func make(_ generate: () throws -> PrivateKey) -> PrivateKey {
        do {
            return try generate()
        } catch {
            preconditionFailure("OpenSSL makes no key for the tests: \(error)")
        }
    }
}
