package import struct FoundationEssentials.UUID

extension UUID {
    /// The name-based UUID of RFC 4122, section 4.3 (SHA-1): the same namespace and name always give the same UUID.
    package static func version5(namespace: UUID, name: [UInt8]) -> UUID {
        name.withUnsafeBytes { self.version5(namespace, $0) }
    }

    /// As above, with the 16 bytes of another UUID as the name.
    package static func version5(namespace: UUID, name: UUID) -> UUID {
        withUnsafeBytes(of: name.uuid) { self.version5(namespace, $0) }
    }

    private static func version5(_ namespace: UUID, _ name: UnsafeRawBufferPointer) -> UUID {
        withUnsafeTemporaryAllocation(byteCount: 16 + name.count + SHA1.byteCount, alignment: 16) { space in
            let input = UnsafeMutableRawBufferPointer(rebasing: space[..<(16 + name.count)])
            let digest = UnsafeMutableRawBufferPointer(rebasing: space[(16 + name.count)...])
            withUnsafeBytes(of: namespace.uuid) { input.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: input[16...]).copyMemory(from: name)
            SHA1.hash(UnsafeRawBufferPointer(input), into: digest)
            digest[6] = digest[6] & 0x0F | 0x50
            digest[8] = digest[8] & 0x3F | 0x80
            return UUID(uuid: digest.loadUnaligned(as: UUIDBytes.self))
        }
    }

    private typealias UUIDBytes = (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )
}
