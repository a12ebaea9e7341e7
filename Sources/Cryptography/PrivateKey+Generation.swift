internal import COpenSSL

/// Throw-away keys, for tests and for the credentials of the simulator.
extension PrivateKey {
    package static func generateP256() throws(KeyError) -> PrivateKey {
        try self.generate("EC") { EVP_PKEY_CTX_set_group_name($0, "P-256") }
    }

    package static func generateP384() throws(KeyError) -> PrivateKey {
        try self.generate("EC") { EVP_PKEY_CTX_set_group_name($0, "P-384") }
    }

    /// - Parameter bits: the length of the modulus, 2048 for a key that signs RS256.
    package static func generateRSA(bits: Int = 2048) throws(KeyError) -> PrivateKey {
        try self.generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(clamping: bits)) }
    }

    private static func generate(_ name: String, _ configure: (OpaquePointer) -> Int32) throws(KeyError) -> PrivateKey {
        ERR_clear_error()
        guard let context = EVP_PKEY_CTX_new_from_name(nil, name, nil) else { throw KeyError.generation() }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_keygen_init(context) == 1, configure(context) == 1 else { throw KeyError.generation() }
        var pointer: OpaquePointer?
        guard EVP_PKEY_generate(context, &pointer) == 1, let pointer else { throw KeyError.generation() }
        return PrivateKey(takingOwnershipOf: pointer)
    }

    /// `-----BEGIN PRIVATE KEY-----` (PKCS#8), unencrypted: secret.
    package var pem: String {
        get throws(KeyError) {
            try self.handle.withPointer { (key) throws(KeyError) in
                try OpenSSL.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
            }
        }
    }

    /// The older form: `-----BEGIN EC PRIVATE KEY-----` (SEC1) or `-----BEGIN RSA PRIVATE KEY-----` (PKCS#1): secret.
    package var traditionalPEM: String {
        get throws(KeyError) {
            try self.handle.withPointer { (key) throws(KeyError) in
                try OpenSSL.text { PEM_write_bio_PrivateKey_traditional($0, key, nil, nil, 0, nil, nil) }
            }
        }
    }
}

extension KeyError {
    fileprivate static func generation() -> KeyError {
        KeyError(.failed, "no key can be made: \(OpenSSL.takeReason())")
    }
}
