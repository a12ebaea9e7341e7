internal import COpenSSL

/// A private key, EC or RSA, that signs for the providers.
package final class PrivateKey: Sendable, CustomStringConvertible {
    let handle: KeyHandle
    package let kind: KeyKind

    /// The kind only.
    package var description: String { "\(self.kind) private key" }

    /// Reads a key from PEM: PKCS#8 (what Apple's `.p8` and Google's `private_key` are), SEC1 (`EC PRIVATE KEY`) or
    /// PKCS#1 (`RSA PRIVATE KEY`).
    ///
    /// Line ends may be LF, CRLF, the two characters `\n`, or lost; quotes, white space and a byte order mark around
    /// the text are ignored. An EC P-256 or RSA key must also pass a trial signature.
    /// - Throws: `KeyError`, which says what was given instead. A key with a passphrase is refused, never asked for.
    package convenience init(pem: String) throws(KeyError) {
        let block = try Self.privateBlock(PEMText(pem))
        let pointer = OpenSSL.reading(block.text) { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }
        guard let pointer else {
            throw KeyError(.damaged, "is a PEM text, but no key can be read from it (\(OpenSSL.takeReason()))")
        }
        self.init(takingOwnershipOf: pointer)
        try self.trySigning()
    }

    init(takingOwnershipOf pointer: OpaquePointer) {
        self.handle = KeyHandle(takingOwnershipOf: pointer)
        self.kind = KeyKind(pointer)
    }

    /// The other half, to verify with.
    package var publicKey: PublicKey { PublicKey(handle: self.handle) }

    // MARK: - The kind that is needed

    /// - Throws: `KeyError` with code `wrongKind` unless this is an EC P-256 key.
    package func requireP256() throws(KeyError) {
        guard self.kind == .p256 else {
            throw KeyError(.wrongKind, "needs an EC P-256 key (.p8 from Apple); this is \(self.kind)")
        }
    }

    /// - Throws: `KeyError` with code `wrongKind` unless this is an RSA key of at least the 2048 bits that RS256 asks
    ///   for (RFC 7518, section 3.3).
    package func requireRSA() throws(KeyError) {
        guard case .rsa(let bits) = self.kind, bits >= 2048 else {
            throw KeyError(
                .wrongKind,
                "needs an RSA key of 2048 bits or more (private_key of a service account); this is \(self.kind)"
            )
        }
    }

    // MARK: - Reading

    private static func privateBlock(_ text: PEMText) throws(KeyError) -> PEMText.Block {
        let keys = text.blocks.filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard let key = keys.first else { throw Self.noKey(text.blocks.map(\.label)) }
        guard keys.count == 1 else { throw KeyError(.severalKeys, "holds \(keys.count) private keys; one is needed") }
        guard !key.isEncrypted else {
            throw KeyError(
                .encrypted,
                "is encrypted with a passphrase; store it without one: openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW"
            )
        }
        guard key.label != "OPENSSH PRIVATE KEY" else {
            throw KeyError(.unsupported, "is an OpenSSH key; PKCS#8 (-----BEGIN PRIVATE KEY-----) is needed")
        }
        return key
    }

    private static func noKey(_ labels: [String]) -> KeyError {
        if labels.contains("CERTIFICATE REQUEST") {
            return KeyError(.certificate, "is a certificate request; a private key is needed")
        }
        if labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) {
            return KeyError(.certificate, "is a certificate; a private key is needed")
        }
        if labels.contains(where: { $0.hasSuffix("PUBLIC KEY") }) {
            return KeyError(.publicKey, "is a public key; the private key is needed")
        }
        return KeyError(.unsupported, "has no -----BEGIN PRIVATE KEY----- block; it holds: \(labels[0])")
    }

    /// A damaged number inside a key can still be readable; it would be found at the first push otherwise.
    private func trySigning() throws(KeyError) {
        let message: [UInt8] = Array("trial".utf8)
        let fits: Bool
        switch self.kind {
        case .p256: fits = self.publicKey.verify(es256Raw: try self.sign(es256: message), over: message)
        case .rsa: fits = self.publicKey.verify(rs256: try self.signPKCS1(message), over: message)
        case .otherCurve, .other: return
        }
        guard fits else { throw KeyError(.damaged, "is damaged: its private and public halves do not fit together") }
    }
}
