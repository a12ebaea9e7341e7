internal import struct FoundationEssentials.UUID

/// UUIDs as PostgreSQL writes them: lower case, 8-4-4-4-12.
///
/// Foundation's own parser and printer go through `String`; a claim of 1 000 rows reads several thousand of these.
enum UUIDText {
    static func append(_ value: UUID, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.uuid) { source in
            for (index, byte) in source.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 { bytes.append(UInt8(ascii: "-")) }
                bytes.append(self.digit(byte >> 4))
                bytes.append(self.digit(byte & 0x0F))
            }
        }
    }

    /// `nil`, unless the text is exactly 36 characters of that form; upper case is read too.
    static func parse(_ text: UnsafeBufferPointer<UInt8>) -> UUID? {
        guard text.count == 36 else { return nil }
        var value: (UInt64, UInt64) = (0, 0)
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let nibble = self.nibble(byte)
            guard nibble < 16 else { return nil }
            if index < 18 { value.0 = value.0 << 4 | nibble } else { value.1 = value.1 << 4 | nibble }
        }
        let halves = (value.0.bigEndian, value.1.bigEndian)
        return withUnsafeBytes(of: halves) {
            UUID(
                uuid: $0.loadUnaligned(
                    as: (
                        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8,
                        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
                    ).self))
        }
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }

    private static func nibble(_ byte: UInt8) -> UInt64 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: 16
        }
    }
}
