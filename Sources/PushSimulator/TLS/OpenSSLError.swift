private import COpenSSL

/// A call to OpenSSL that failed: what it was for, and OpenSSL's own words.
package struct OpenSSLError: Error, Equatable, CustomStringConvertible {
    package let operation: String
    package let reason: String

    /// Takes the first entry of this thread's error queue and empties it, so call it on the thread of the failure.
    init(_ operation: String) {
        self.operation = operation
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else {
            self.reason = "no reason given"
            return
        }
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &text, text.count)
        self.reason = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    package var description: String { "\(self.operation) failed: \(self.reason)" }
}
