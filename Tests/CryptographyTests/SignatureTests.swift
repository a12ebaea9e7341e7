internal import Cryptography
internal import TestSupport
internal import Testing

@Suite struct SignatureTests {
    private let message = Array("what is signed".utf8)

    @Test func `ES256 is 64 bytes even when r or s begins with zeros`() throws {
        let key = TestKeys.p256
        var shortR = false
        var shortS = false
        // One signature in 256 has a short r; not meeting one in 10,000 is as likely as e^-39.
        for _ in 0..<10_000 where !(shortR && shortS) {
            let signature = try key.sign(es256: self.message)
            #expect(signature.count == 64)
            shortR = shortR || signature[0] == 0
            shortS = shortS || signature[32] == 0
            if signature[0] == 0 || signature[32] == 0 {
                #expect(key.publicKey.verify(es256Raw: signature, over: self.message))
            }
        }
        #expect(shortR && shortS)
    }

    @Test func `numbers of any length go from DER to raw and back`() throws {
        let one: [UInt8] = [0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07]
        let signature = try ECDSASignature(der: one)
        #expect(signature.raw == [UInt8](repeating: 0, count: 31) + [5] + [UInt8](repeating: 0, count: 31) + [7])
        #expect(try ECDSASignature(raw: signature.raw).der == one)
        // The top bit set: DER puts a zero before it, raw does not.
        let high = [UInt8](repeating: 0xFF, count: 64)
        #expect(try ECDSASignature(der: ECDSASignature(raw: high).der).raw == high)
        #expect(try ECDSASignature(raw: high).der.count == 72)
    }

    @Test(arguments: [
        [],
        [0x30],
        [0x30, 0x06, 0x02, 0x01, 0x05],
        [UInt8](repeating: 0x41, count: 64),
        [0x30, 0x26, 0x02, 0x21, 0x01] + [UInt8](repeating: 0, count: 32) + [0x02, 0x01, 0x07],
    ])
    func `bytes that are no P-256 signature are refused`(_ bytes: [UInt8]) {
        #expect(throws: KeyError.self) { try ECDSASignature(der: bytes) }
    }

    @Test func `ES256 refuses DER, other lengths, another message and another key`() throws {
        let key = TestKeys.p256.publicKey
        let signature = try TestKeys.p256.sign(es256: self.message)
        #expect(key.verify(es256Raw: signature, over: self.message))
        #expect(!key.verify(es256Raw: try ECDSASignature(raw: signature).der, over: self.message))
        #expect(!key.verify(es256Raw: [], over: self.message))
        #expect(!key.verify(es256Raw: signature + [0], over: self.message))
        #expect(!key.verify(es256Raw: [UInt8](repeating: 0, count: 64), over: self.message))
        #expect(!key.verify(es256Raw: signature, over: self.message + [0]))
        #expect(!TestKeys.otherP256.publicKey.verify(es256Raw: signature, over: self.message))
        #expect(!TestKeys.rsa.publicKey.verify(es256Raw: signature, over: self.message))
        for index in [0, 31, 32, 63] {
            var altered = signature
            altered[index] ^= 1
            #expect(!key.verify(es256Raw: altered, over: self.message))
        }
    }

    @Test func `RS256 verifies with its own key only`() throws {
        let signature = try TestKeys.rsa.sign(rs256: self.message)
        #expect(signature.count == 256)
        #expect(TestKeys.rsa.publicKey.verify(rs256: signature, over: self.message))
        #expect(try TestKeys.rsa.sign(rs256: self.message) == signature)
        #expect(!TestKeys.otherRSA.publicKey.verify(rs256: signature, over: self.message))
        #expect(!TestKeys.rsa.publicKey.verify(rs256: signature, over: []))
        #expect(!TestKeys.rsa.publicKey.verify(rs256: [], over: self.message))
        #expect(!TestKeys.p256.publicKey.verify(rs256: signature, over: self.message))
    }

    @Test func `a public key goes through PEM, and through the coordinates of a JWK`() throws {
        #expect(try PublicKey(pem: TestKeys.p256.publicKey.pem) == TestKeys.p256.publicKey)
        #expect(TestKeys.p256.publicKey != TestKeys.otherP256.publicKey)
        #expect(TestKeys.p256.publicKey != TestKeys.rsa.publicKey)
        let x = try #require(Base64URL.decode(TestKeys.rfc7515X))
        let y = try #require(Base64URL.decode(TestKeys.rfc7515Y))
        #expect(try PublicKey(p256X: x, y: y).kind == .p256)
        // Not on the curve, and not 32 bytes.
        #expect(throws: KeyError.self) { try PublicKey(p256X: y, y: x) }
        #expect(throws: KeyError.self) { try PublicKey(p256X: Array(x.dropLast()), y: y) }
        #expect(throws: KeyError.self) { try PublicKey(pem: TestKeys.p256.pem) }
        #expect(throws: KeyError.self) { try PublicKey(pem: "") }
    }

    @Test func `many tasks sign with one key at a time`() async throws {
        let key = TestKeys.p256
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    try (0..<50).allSatisfy { index in
                        let message = Array("\(number) \(index)".utf8)
                        return key.publicKey.verify(es256Raw: try key.sign(es256: message), over: message)
                    }
                }
            }
            for try await verified in group {
                #expect(verified)
            }
        }
    }
}
