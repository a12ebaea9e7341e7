internal import COpenSSL

/// An ECDSA signature on P-256, between the two ways of writing it down: ASN.1 DER, which OpenSSL makes and reads, and
/// r‖s, 64 bytes, which JWS wants (RFC 7518, section 3.4). APNs refuses DER as `InvalidProviderToken`.
package struct ECDSASignature: Equatable, Sendable {
    /// r and s as 32 bytes each, most significant first, filled up with zeros on the left.
    package let raw: [UInt8]

    /// - Throws: `KeyError` unless there are exactly 64 bytes. DER of a P-256 signature has 70 to 72, nearly always.
    package init(raw: [UInt8]) throws(KeyError) {
        guard raw.count == 64 else {
            throw KeyError(.failed, "an ES256 signature has 64 bytes, not \(raw.count)")
        }
        self.raw = raw
    }

    package init(der: [UInt8]) throws(KeyError) {
        ERR_clear_error()
        let signature = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &position, bytes.count)
        }
        guard let signature else { throw KeyError(.failed, "not an ECDSA signature: \(OpenSSL.takeReason())") }
        defer { ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 64)
        let fits = raw.withUnsafeMutableBufferPointer { bytes in
            BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes.baseAddress, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes.baseAddress.map { $0 + 32 }, 32) == 32
        }
        guard fits else {
            ERR_clear_error()
            throw KeyError(.failed, "not a P-256 signature: a number in it is too long")
        }
        self.raw = raw
    }

    /// The signature as OpenSSL wants it.
    package var der: [UInt8] {
        get throws(KeyError) {
            ERR_clear_error()
            guard let signature = ECDSA_SIG_new() else { throw KeyError(.failed, OpenSSL.takeReason()) }
            defer { ECDSA_SIG_free(signature) }
            let r = BN_bin2bn(self.raw, 32, nil)
            let s = self.raw.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress.map { $0 + 32 }, 32, nil) }
            // Takes both numbers, but only when it succeeds.
            guard let r, let s, ECDSA_SIG_set0(signature, r, s) == 1 else {
                BN_free(r)
                BN_free(s)
                throw KeyError(.failed, OpenSSL.takeReason())
            }
            var bytes = [UInt8](repeating: 0, count: 80)
            let count = bytes.withUnsafeMutableBufferPointer { buffer -> Int32 in
                var position = buffer.baseAddress
                return i2d_ECDSA_SIG(signature, nil) <= 80 ? i2d_ECDSA_SIG(signature, &position) : -1
            }
            guard count > 0 else { throw KeyError(.failed, OpenSSL.takeReason()) }
            return Array(bytes.prefix(Int(count)))
        }
    }
}
