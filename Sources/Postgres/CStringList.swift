private import Glibc

/// Texts as C wants them: an array of pointers, each to bytes that end in a zero.
///
/// All bytes lie in one buffer, so any number of texts costs two allocations and one scope.
struct CStringList: Sendable {
    private(set) var bytes: [UInt8] = []
    /// Where each text begins; `nil` is a null pointer.
    private var offsets: [Int?] = []

    var count: Int { self.offsets.count }

    mutating func append(_ text: String) {
        self.offsets.append(self.bytes.count)
        self.bytes.append(contentsOf: text.utf8)
        self.bytes.append(0)
    }

    mutating func appendNull() {
        self.offsets.append(nil)
    }

    /// Appends what `write` writes; `false`, if it holds a zero byte, which would cut the text short.
    mutating func append<Failure: Error>(_ write: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) -> Bool {
        let start = self.bytes.count
        self.offsets.append(start)
        try write(&self.bytes)
        let isWhole = self.bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return true }
            return memchr(base + start, 0, buffer.count - start) == nil
        }
        self.bytes.append(0)
        return isWhole
    }

    /// The pointers are valid inside `body` only.
    func withPointers<Result>(_ body: ([UnsafePointer<CChar>?]) -> Result) -> Result {
        self.bytes.withUnsafeBytes { buffer in
            let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return body(self.offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } })
        }
    }
}
