internal import Cryptography
internal import Testing

internal import struct FoundationEssentials.UUID

@Suite struct SHA1Tests {
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
        (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ])
    func `the vectors of FIPS 180 come out`(_ text: String, _ digest: String) {
        let hex = SHA1.hash(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hex == digest)
    }
}

@Suite struct UUIDVersion5Tests {
    private static let dns = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    private static let url = "6ba7b811-9dad-11d1-80b4-00c04fd430c8"

    /// The namespaces of RFC 4122, appendix C; results as of the `uuid5` of Python.
    @Test(arguments: [
        (dns, "www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2"),
        (dns, "python.org", "886313e1-3b8a-5372-9b90-0c9aee199e5d"),
        (url, "http://www.ietf.org/rfc/rfc4122.txt", "d0690b3c-b29d-52e7-81b0-d573b503f2d4"),
    ])
    func `known names give known UUIDs`(_ namespace: String, _ name: String, _ expected: String) throws {
        let namespace = try #require(UUID(uuidString: namespace))
        #expect(UUID.version5(namespace: namespace, name: Array(name.utf8)) == UUID(uuidString: expected))
    }

    @Test func `a UUID as the name is its 16 bytes`() {
        let namespace = UUID()
        let name = UUID()
        let bytes = withUnsafeBytes(of: name.uuid) { Array($0) }
        let result = UUID.version5(namespace: namespace, name: name)
        #expect(result == UUID.version5(namespace: namespace, name: bytes))
        #expect(result != UUID.version5(namespace: name, name: namespace))
        #expect(result.uuid.6 >> 4 == 5)
        #expect(result.uuid.8 >> 6 == 2)
    }
}

@Suite struct Base64URLTests {
    @Test(
        arguments: [
            ([], ""), ([0x66], "Zg"), ([0x66, 0x6F], "Zm8"), ([0x66, 0x6F, 0x6F], "Zm9v"),
            (Array("foobar".utf8), "Zm9vYmFy"), ([0xFB, 0xFF], "-_8"), ([0, 0, 0, 0], "AAAAAA"),
        ] as [([UInt8], String)])
    func `bytes and text belong together`(_ bytes: [UInt8], _ text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test(arguments: ["Zg==", "Zm8=", "A", "AAAAA", "Zh", "Zm9", "+_8", "-/8", "Zm 9v", "Zm9v\n", "Zm9vé", "\0\0"])
    func `any other spelling is refused`(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `every length comes back`() {
        for count in 0..<100 {
            let bytes = randomBytes(count)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }
}

@Suite struct SecretsTests {
    @Test func `only equal secrets are equal`() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(!constantTimeEqual([], [0]))
    }

    @Test func `random bytes differ`() {
        #expect(randomBytes(32).count == 32)
        #expect(randomBytes(32) != randomBytes(32))
    }
}
