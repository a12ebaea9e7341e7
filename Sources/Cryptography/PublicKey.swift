internal import COpenSSL

/// The public half of a key, to verify signatures with. Two are equal when they are the same key.
package final class PublicKey: Sendable, Equatable, CustomStringConvertible {
    private let handle: KeyHandle
    package let kind: KeyKind

    package var description: String { "\(self.kind) public key" }

    init(handle: KeyHandle) {
        self.handle = handle
        self.kind = handle.withPointer { KeyKind($0) }
    }

    /// Reads `-----BEGIN PUBLIC KEY-----`, as tolerantly as `PrivateKey` does.
    package convenience init(pem: String) throws(KeyError) {
        let blocks = try PEMText(pem).blocks
        guard let block = blocks.first(where: { $0.label == "PUBLIC KEY" }) else {
            throw KeyError(.unsupported, "has no -----BEGIN PUBLIC KEY----- block")
        }
        let pointer = OpenSSL.reading(block.text) { PEM_read_bio_PUBKEY($0, nil, refusePassphrase, nil) }
        guard let pointer else {
            throw KeyError(.damaged, "is a PEM text, but no key can be read from it (\(OpenSSL.takeReason()))")
        }
        self.init(handle: KeyHandle(takingOwnershipOf: pointer))
    }

    /// A P-256 key from the coordinates of its point, 32 bytes each: `x` and `y` of a JWK (RFC 7518, section 6.2.1).
    package convenience init(p256X x: [UInt8], y: [UInt8]) throws(KeyError) {
        guard x.count == 32, y.count == 32 else {
            throw KeyError(.damaged, "a P-256 coordinate has 32 bytes, not \(x.count) and \(y.count)")
        }
        // SubjectPublicKeyInfo (RFC 5480): id-ecPublicKey, prime256v1, and an uncompressed point.
        let prefix: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        ERR_clear_error()
        let pointer = (prefix + x + y).withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            return d2i_PUBKEY(nil, &position, bytes.count)
        }
        guard let pointer else { throw KeyError(.damaged, "not a point on P-256: \(OpenSSL.takeReason())") }
        self.init(handle: KeyHandle(takingOwnershipOf: pointer))
    }

    /// `-----BEGIN PUBLIC KEY-----` (SubjectPublicKeyInfo).
    package var pem: String {
        get throws(KeyError) {
            try self.handle.withPointer { (key) throws(KeyError) in
                try OpenSSL.text { PEM_write_bio_PUBKEY($0, key) }
            }
        }
    }

    // MARK: - Verifying

    /// Whether `signature`, r‖s in 64 bytes, is this P-256 key's over `message`. Anything else, DER too, is false.
    package func verify(es256Raw signature: [UInt8], over message: [UInt8]) -> Bool {
        guard self.kind == .p256, let der = try? ECDSASignature(raw: signature).der else { return false }
        return self.verifySHA256(der, message)
    }

    /// Whether `signature` is this RSA key's over `message`, by PKCS#1 v1.5 and SHA-256.
    package func verify(rs256 signature: [UInt8], over message: [UInt8]) -> Bool {
        guard case .rsa = self.kind else { return false }
        return self.verifySHA256(signature, message)
    }

    private func verifySHA256(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
        self.handle.withPointer { key in
            defer { ERR_clear_error() }
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
                && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
    }

    package static func == (left: PublicKey, right: PublicKey) -> Bool {
        left.handle.withPointer { left in
            right.handle.withPointer { right in
                defer { ERR_clear_error() }
                return EVP_PKEY_eq(left, right) == 1
            }
        }
    }
}
