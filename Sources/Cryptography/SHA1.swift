internal import COpenSSL

/// SHA-1, for UUIDs of version 5 only: it protects nothing.
package enum SHA1 {
    package static let byteCount = 20

    /// Looked up once: looking it up for every digest costs more than the digest.
    // Unsafe: a fetched algorithm is never changed, so all threads may read it; it lives as long as the process.
    private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA1", nil)

    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: self.byteCount) { buffer, count in
            bytes.withUnsafeBytes { self.hash($0, into: UnsafeMutableRawBufferPointer(buffer)) }
            count = self.byteCount
        }
    }

    /// Writes the 20 bytes of the digest to `digest`.
    static func hash(_ bytes: UnsafeRawBufferPointer, into digest: UnsafeMutableRawBufferPointer) {
        precondition(digest.count >= self.byteCount)
        let done = EVP_Digest(bytes.baseAddress, bytes.count, digest.baseAddress, nil, self.algorithm, nil)
        // Not a matter of input: it fails only where OpenSSL was built or configured without SHA-1, and then no
        // delivery could have an identity.
        precondition(done == 1, "OpenSSL offers no SHA-1 here")
    }
}
