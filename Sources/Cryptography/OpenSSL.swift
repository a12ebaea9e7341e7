internal import COpenSSL

/// What OpenSSL puts on its per-thread error list, reduced to one readable cause.
enum OpenSSL {
    /// Takes the first cause of the failure that was just seen and empties the list.
    ///
    /// Only OpenSSL's own constant texts are used, so nothing of the input can be in it.
    static func takeReason() -> String {
        defer { ERR_clear_error() }
        let code = ERR_get_error()
        guard code != 0, let text = ERR_reason_error_string(code) else { return "no reason given by OpenSSL" }
        return String(cString: text)
    }

    /// The text that `write` puts into a memory BIO.
    static func text(_ write: (OpaquePointer) -> Int32) throws(KeyError) -> String {
        ERR_clear_error()
        guard let bio = BIO_new(BIO_s_mem()) else { throw KeyError(.failed, "cannot be written: \(takeReason())") }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw KeyError(.failed, "cannot be written: \(takeReason())") }
        var start: UnsafeMutablePointer<CChar>?
        let count = openssl_bio_memory(bio, &start)
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Lends `text` to `read` as a memory BIO.
    static func reading<Result>(_ text: String, _ read: (OpaquePointer) -> Result?) -> Result? {
        ERR_clear_error()
        var text = text
        return text.withUTF8 { bytes -> Result? in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return read(bio)
        }
    }
}

/// The owner of one `EVP_PKEY`.
final class KeyHandle: @unchecked Sendable {
    // Sendable: the key is never changed after it was made, and OpenSSL 3 allows several threads to use one
    // `EVP_PKEY` at a time as long as each has its own context (openssl-threads(7)); so do all uses here.
    private let pointer: OpaquePointer

    init(takingOwnershipOf pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(self.pointer)
    }

    func withPointer<Result, Failure: Error>(_ body: (OpaquePointer) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        defer { withExtendedLifetime(self) {} }
        return try body(self.pointer)
    }
}

/// Refuses every question for a passphrase: without it OpenSSL would prompt on the terminal and a service would hang.
/// Negative, since 0 would be an empty passphrase.
func refusePassphrase(
    _: UnsafeMutablePointer<CChar>?,
    _: Int32,
    _: Int32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    -1
}
