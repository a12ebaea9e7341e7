internal import COpenSSL

/// SHA-256, for what is kept only to be recognised again.
package enum SHA256 {
    package static let byteCount = 32

    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: self.byteCount) { buffer, count in
            let done = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, EVP_sha256(), nil)
            // Not a matter of input: ES256 needs it, and without that there is no APNs.
            precondition(done == 1, "OpenSSL offers no SHA-256 here")
            count = self.byteCount
        }
    }
}
