private import COpenSSL

/// A certificate authority made for one run, and the server certificate it signed for this machine's loopback names.
///
/// The authority's private key never leaves the process and is gone with it.
package final class SimulatorCertificates: @unchecked Sendable {
    // Sendable: everything is set in `init` and only read afterwards; OpenSSL counts references to X509 and EVP_PKEY
    // atomically.
    let server: X509Certificate
    let serverKey: CertificateKey
    /// The authority's certificate as PEM text: what a client must trust.
    package let authorityPEM: String

    package init() throws(OpenSSLError) {
        let authorityKey = try CertificateKey()
        let authority = try X509Certificate(
            .init(
                subject: "push-simulator throw-away authority", serial: 1,
                extensions: [
                    (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                    (NID_key_usage, "critical,keyCertSign,cRLSign"),
                    (NID_subject_key_identifier, "hash"),
                ], days: 30),
            key: authorityKey, issuer: nil, issuerKey: authorityKey)
        let serverKey = try CertificateKey()
        self.server = try X509Certificate(
            .init(
                subject: "localhost", serial: 2,
                extensions: [
                    (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                    (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1"),
                    (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
                ], days: 30),
            key: serverKey, issuer: authority, issuerKey: authorityKey)
        self.serverKey = serverKey
        self.authorityPEM = try authority.pem()
    }
}
