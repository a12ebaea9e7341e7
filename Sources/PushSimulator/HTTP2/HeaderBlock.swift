internal import CNGHTTP2

/// Names and values of an answer, laid out in one piece for nghttp2, which copies them.
struct HeaderBlock {
    private var bytes: [UInt8] = []
    private var lengths: [(name: Int, value: Int)] = []

    init() {
        self.bytes.reserveCapacity(256)
        self.lengths.reserveCapacity(8)
    }

    mutating func append(_ name: String, _ value: String) {
        self.bytes.append(contentsOf: name.utf8)
        self.bytes.append(contentsOf: value.utf8)
        self.lengths.append((name.utf8.count, value.utf8.count))
    }

    mutating func append(_ name: String, _ value: [UInt8]) {
        self.bytes.append(contentsOf: name.utf8)
        self.bytes.append(contentsOf: value)
        self.lengths.append((name.utf8.count, value.count))
    }
}

extension HeaderBlock {
    /// The pairs, valid within `body` only.
    mutating func withPairs(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void) {
        let lengths = self.lengths
        self.bytes.withUnsafeMutableBufferPointer { bytes in
            guard var position = bytes.baseAddress else { return }
            let pairs = lengths.map { length in
                defer { position += length.name + length.value }
                return nghttp2_nv(
                    name: position, value: position + length.name, namelen: length.name, valuelen: length.value,
                    flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            pairs.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
        }
    }
}
