private import Cryptography

/// A word that only those who may should know. Compared in constant time, and never printed.
package struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
    private let bytes: [UInt8]

    /// Fewer can be guessed or tried out.
    package static let shortest = 16

    package init(_ text: String) {
        self.bytes = Array(text.utf8)
    }

    package var length: Int { self.bytes.count }

    package func matches(_ candidate: String) -> Bool {
        constantTimeEqual(self.bytes, Array(candidate.utf8))
    }

    package func matches(_ other: Secret) -> Bool { constantTimeEqual(self.bytes, other.bytes) }

    package var description: String { "***" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
