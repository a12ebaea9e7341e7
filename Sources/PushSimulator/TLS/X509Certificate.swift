private import COpenSSL

/// A key pair on the curve P-256, for certificates only.
final class CertificateKey {
    let pointer: OpaquePointer

    init() throws(OpenSSLError) {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw OpenSSLError("making a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else { throw OpenSSLError("making a key") }
        self.pointer = key
    }

    deinit { EVP_PKEY_free(self.pointer) }
}

/// A certificate made here.
final class X509Certificate {
    let pointer: OpaquePointer

    /// What a certificate says.
    struct Contents {
        var subject: String
        var serial: Int
        /// OpenSSL's own notation, by the extension's number.
        var extensions: [(number: Int32, value: String)]
        /// Whole days from now.
        var days: Int
    }

    /// Signed by `issuerKey`; `issuer` nil means by itself.
    init(_ contents: Contents, key: CertificateKey, issuer: X509Certificate?, issuerKey: CertificateKey)
        throws(OpenSSLError)
    {
        guard let certificate = X509_new() else { throw OpenSSLError("making a certificate") }
        self.pointer = certificate
        let daySeconds = 24 * 3600
        // An hour back, for a clock that is a little behind.
        guard X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set(X509_get_serialNumber(certificate), contents.serial) == 1,
            X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil,
            X509_gmtime_adj(X509_getm_notAfter(certificate), contents.days * daySeconds) != nil,
            X509_set_pubkey(certificate, key.pointer) == 1,
            let name = X509_get_subject_name(certificate),
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, contents.subject, -1, -1, 0) == 1,
            X509_set_issuer_name(certificate, X509_get_subject_name(issuer?.pointer ?? certificate)) == 1
        else { throw OpenSSLError("filling in a certificate") }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.pointer ?? certificate, certificate, nil, nil, 0)
        for (number, value) in contents.extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, number, value) else {
                throw OpenSSLError("making a certificate's extension")
            }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate, made, -1) == 1 else {
                throw OpenSSLError("adding a certificate's extension")
            }
        }
        guard X509_sign(certificate, issuerKey.pointer, EVP_sha256()) > 0 else {
            throw OpenSSLError("signing a certificate")
        }
    }

    deinit { X509_free(self.pointer) }

    /// The certificate as PEM text.
    func pem() throws(OpenSSLError) -> String {
        guard let memory = BIO_new(BIO_s_mem()) else { throw OpenSSLError("writing a certificate") }
        defer { BIO_free(memory) }
        guard PEM_write_bio_X509(memory, self.pointer) == 1 else { throw OpenSSLError("writing a certificate") }
        var bytes: UnsafeMutablePointer<CChar>?
        let count = openssl_bio_memory(memory, &bytes)
        guard let bytes, count > 0 else { throw OpenSSLError("writing a certificate") }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
