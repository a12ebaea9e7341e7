package import struct FoundationEssentials.UUID

extension UUID {
    /// Lower case, 8-4-4-4-12: the form PostgreSQL prints and APNs wants. `uuidString` is upper case.
    package var text: String {
        withUnsafeBytes(of: self.uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { buffer in
                var position = 0
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        buffer[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    buffer[position] = Self.digit(byte >> 4)
                    buffer[position + 1] = Self.digit(byte & 0x0F)
                    position += 2
                }
                return position
            }
        }
    }

    private static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}
