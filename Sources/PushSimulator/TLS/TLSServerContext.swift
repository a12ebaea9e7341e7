private import COpenSSL

/// What every connection's TLS starts from: the certificate, TLS 1.2 or later, ALPN `h2` and nothing else.
final class TLSServerContext {
    private let pointer: OpaquePointer

    init(_ certificates: SimulatorCertificates) throws(OpenSSLError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw OpenSSLError("making a TLS context") }
        self.pointer = context
        guard openssl_min_protocol(context, TLS1_2_VERSION) == 1,
            SSL_CTX_use_certificate(context, certificates.server.pointer) == 1,
            SSL_CTX_use_PrivateKey(context, certificates.serverKey.pointer) == 1
        else { throw OpenSSLError("setting up the TLS context") }
        SSL_CTX_set_alpn_select_cb(context, selectHTTP2, nil)
    }

    deinit { SSL_CTX_free(self.pointer) }

    /// The server's side of a TLS connection on a non-blocking socket; nil when OpenSSL has no memory.
    func makeConnection(socket: Int32) -> TLSConnection? {
        guard let ssl = SSL_new(self.pointer) else { return nil }
        guard SSL_set_fd(ssl, socket) == 1 else {
            SSL_free(ssl)
            return nil
        }
        _ = openssl_set_mode(ssl, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        SSL_set_accept_state(ssl)
        return TLSConnection(takingOwnershipOf: ssl)
    }
}

/// Written as a free function: a closure in a method could pick up an isolation that OpenSSL knows nothing of.
private func selectHTTP2(
    _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, chosenLength: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?, offeredLength: UInt32, _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    var position = 0
    // A list of names, each behind its length; OpenSSL has checked that it is well formed.
    while position < Int(offeredLength) {
        let length = Int(offered[position])
        guard position + 1 + length <= Int(offeredLength) else { break }
        if length == 2, offered[position + 1] == UInt8(ascii: "h"), offered[position + 2] == UInt8(ascii: "2") {
            // The answer may point into what the client offered.
            chosen.pointee = offered + position + 1
            chosenLength.pointee = 2
            return SSL_TLSEXT_ERR_OK
        }
        position += 1 + length
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// One TLS connection over a non-blocking socket. Belongs to the server's thread.
final class TLSConnection {
    private let ssl: OpaquePointer

    /// How a read or a write ended.
    enum Result {
        case bytes(Int)
        case wantsRead
        case wantsWrite
        case closed
    }

    fileprivate init(takingOwnershipOf ssl: OpaquePointer) {
        self.ssl = ssl
    }

    deinit { SSL_free(self.ssl) }

    /// One step of the handshake; `.bytes` means that it is complete.
    func handshake() -> Result {
        ERR_clear_error()
        return self.result(SSL_do_handshake(self.ssl))
    }

    /// Whether the client chose `h2` by ALPN; false also when it offered nothing.
    var negotiatedHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(self.ssl, &name, &length)
        return length == 2
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        ERR_clear_error()
        return self.result(SSL_read(self.ssl, buffer.baseAddress, Int32(clamping: buffer.count)))
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Result {
        ERR_clear_error()
        return self.result(SSL_write(self.ssl, bytes.baseAddress, Int32(clamping: bytes.count)))
    }

    /// Says goodbye in TLS, without waiting for the answer.
    func shutdown() {
        ERR_clear_error()
        SSL_shutdown(self.ssl)
        ERR_clear_error()
    }

    private func result(_ value: Int32) -> Result {
        guard value <= 0 else { return .bytes(Int(value)) }
        switch SSL_get_error(self.ssl, value) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        default:
            ERR_clear_error()
            return .closed
        }
    }
}
