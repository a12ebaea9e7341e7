internal import COpenSSL

/// What a key can be used for.
package enum KeyKind: Hashable, Sendable, CustomStringConvertible {
    /// The only one that signs ES256 (RFC 7518, section 3.4).
    case p256
    /// An EC key on another curve, by its common name: `P-384`, `secp256k1`.
    case otherCurve(String)
    /// The number is the length of the modulus in bits.
    case rsa(bits: Int)
    /// By OpenSSL's name: `ED25519`.
    case other(String)

    package var description: String {
        switch self {
        case .p256: "EC P-256"
        case .otherCurve(let name): "EC \(name)"
        case .rsa(let bits): "RSA \(bits)"
        case .other(let name): name
        }
    }

    init(_ key: OpaquePointer) {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_EC: self = Self.curve(of: key)
        case EVP_PKEY_RSA: self = .rsa(bits: Int(EVP_PKEY_get_bits(key)))
        default: self = .other(EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown")
        }
    }

    private static func curve(of key: OpaquePointer) -> Self {
        var name = [CChar](repeating: 0, count: 80)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else {
            ERR_clear_error()
            return .otherCurve("with its own parameters")
        }
        let text = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return switch text {
        case "prime256v1": .p256
        case "secp384r1": .otherCurve("P-384")
        case "secp521r1": .otherCurve("P-521")
        default: .otherCurve(text)
        }
    }
}
