internal import COpenSSL

extension PrivateKey {
    /// Signs with ECDSA on P-256 and SHA-256, in the form JWS wants: r and s, 32 bytes each (RFC 7518, section 3.4).
    ///
    /// Random: two signatures over the same message differ.
    /// - Throws: `KeyError`: another kind of key, or OpenSSL's refusal.
    package func sign(es256 message: [UInt8]) throws(KeyError) -> [UInt8] {
        try self.requireP256()
        return try ECDSASignature(der: self.signSHA256(message)).raw
    }

    /// Signs with RSASSA-PKCS1-v1_5 and SHA-256 (RFC 7518, section 3.3).
    /// - Throws: `KeyError`: another kind of key, or OpenSSL's refusal.
    package func sign(rs256 message: [UInt8]) throws(KeyError) -> [UInt8] {
        try self.requireRSA()
        return try self.signSHA256(message)
    }

    /// As `sign(rs256:)`, for an RSA key of any length.
    func signPKCS1(_ message: [UInt8]) throws(KeyError) -> [UInt8] {
        try self.signSHA256(message)
    }

    private func signSHA256(_ message: [UInt8]) throws(KeyError) -> [UInt8] {
        try self.handle.withPointer { (key) throws(KeyError) in
            ERR_clear_error()
            guard let context = EVP_MD_CTX_new() else { throw KeyError.signing() }
            defer { EVP_MD_CTX_free(context) }
            guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { throw KeyError.signing() }
            var count = Int(EVP_PKEY_get_size(key))
            var signature = [UInt8](repeating: 0, count: count)
            guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
                throw KeyError.signing()
            }
            signature.removeLast(signature.count - count)
            return signature
        }
    }
}

extension KeyError {
    fileprivate static func signing() -> KeyError {
        KeyError(.failed, "cannot sign: \(OpenSSL.takeReason())")
    }
}
