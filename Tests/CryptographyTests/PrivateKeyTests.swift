internal import Cryptography
internal import TestSupport
internal import Testing

@Suite struct PrivateKeyTests {
    /// Ways in which a good PEM text arrives damaged, each of which must be put right.
    enum Disguise: CaseIterable {
        case none, crlf, escaped, escapedTwice, escapedCRLF, spaces, quoted, byteOrderMark, whiteSpace, indented
        case noLastLineEnd, wrappedShort, textBefore

        func apply(to pem: String) -> String {
            let lines = pem.split(separator: "\n")
            switch self {
            case .none: return pem
            case .crlf: return lines.joined(separator: "\r\n") + "\r\n"
            case .escaped: return lines.joined(separator: "\\n") + "\\n"
            case .escapedTwice: return lines.joined(separator: "\\\\n")
            case .escapedCRLF: return lines.joined(separator: "\\r\\n")
            case .spaces: return lines.joined(separator: " ")
            case .quoted: return "\"\(lines.joined(separator: "\\n"))\"\n"
            case .byteOrderMark: return "\u{FEFF}" + pem
            case .whiteSpace: return "\n\n \t" + pem + "\n  \n"
            case .indented: return lines.map { "    " + $0 }.joined(separator: "\n")
            case .noLastLineEnd: return lines.joined(separator: "\n")
            case .wrappedShort:
                return pem.split(separator: "\n").map { line in
                    guard !line.hasPrefix("-"), line.count > 20 else { return String(line) }
                    return "\(line.prefix(20))\n\(line.dropFirst(20))"
                }.joined(separator: "\n")
            case .textBefore: return "Bag Attributes\n    friendlyName: a key\n" + pem
            }
        }
    }

    @Test(arguments: Disguise.allCases)
    func `a P-256 key is read from PKCS8 and from SEC1, however it was pasted`(_ disguise: Disguise) throws {
        for pem in [try TestKeys.p256.pem, try TestKeys.p256.traditionalPEM] {
            let key = try PrivateKey(pem: disguise.apply(to: pem))
            #expect(key.kind == .p256)
            #expect(key.publicKey == TestKeys.p256.publicKey)
        }
    }

    @Test(arguments: Disguise.allCases)
    func `an RSA key is read from PKCS8 and from PKCS1, however it was pasted`(_ disguise: Disguise) throws {
        for pem in [try TestKeys.rsa.pem, try TestKeys.rsa.traditionalPEM] {
            let key = try PrivateKey(pem: disguise.apply(to: pem))
            #expect(key.kind == .rsa(bits: 2048))
            #expect(key.publicKey == TestKeys.rsa.publicKey)
        }
    }

    @Test func `the two forms really are two forms`() throws {
        #expect(try TestKeys.p256.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(try TestKeys.p256.traditionalPEM.hasPrefix("-----BEGIN EC PRIVATE KEY-----\n"))
        #expect(try TestKeys.rsa.traditionalPEM.hasPrefix("-----BEGIN RSA PRIVATE KEY-----\n"))
        #expect(try TestKeys.p256.publicKey.pem.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
    }

    @Test func `SEC1 with a block of parameters before it is read`() throws {
        // prime256v1, as `openssl ecparam -genkey` writes it.
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        #expect(try PrivateKey(pem: parameters + TestKeys.p256.traditionalPEM).kind == .p256)
    }

    @Test func `a key signs the same after it went through PEM`() throws {
        let message = Array("one message".utf8)
        let again = try PrivateKey(pem: TestKeys.p256.traditionalPEM)
        #expect(TestKeys.p256.publicKey.verify(es256Raw: try again.sign(es256: message), over: message))
        #expect(!TestKeys.otherP256.publicKey.verify(es256Raw: try again.sign(es256: message), over: message))
    }

    // MARK: - The wrong thing

    /// A text that is no private key, the code it is refused with, and a word the message must hold.
    struct Wrong: CustomTestStringConvertible {
        var name: String
        var text: String
        var code: KeyError.Code
        var word: String
        var testDescription: String { self.name }

        static func all() throws -> [Wrong] {
            let pem = try TestKeys.p256.pem
            let publicPEM = try TestKeys.p256.publicKey.pem
            let inner = pem.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
            func block(_ label: String, _ body: String) -> String {
                "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
            }
            let flipped = inner.prefix(40) + (inner.dropFirst(40).prefix(1) == "A" ? "B" : "A") + inner.dropFirst(41)
            return [
                Wrong(name: "nothing", text: "", code: .empty, word: "empty"),
                Wrong(name: "white space", text: " \n\t\r\n", code: .empty, word: "empty"),
                Wrong(name: "quotes only", text: "\"\"", code: .empty, word: "empty"),
                Wrong(name: "a word", text: "changeme", code: .notPEM, word: "-----BEGIN"),
                Wrong(name: "JSON", text: "{\"private_key\": \"\(inner)\"}", code: .notPEM, word: "JSON"),
                Wrong(name: "a path", text: "/run/secrets/AuthKey.p8", code: .notPEM, word: "path"),
                Wrong(name: "base64 twice", text: "LS0tLS1CRUdJTiBQUklWQVRF", code: .notPEM, word: "base64"),
                Wrong(name: "no BEGIN line", text: inner, code: .notPEM, word: "-----BEGIN"),
                Wrong(name: "far too long", text: String(repeating: "A", count: 70_000), code: .notPEM, word: "longer"),
                Wrong(name: "NUL bytes", text: "\0\0\0", code: .notPEM, word: "-----BEGIN"),
                Wrong(name: "BEGIN alone", text: "-----BEGIN PRIVATE KEY", code: .damaged, word: "BEGIN"),
                Wrong(
                    name: "odd label",
                    text: "-----BEGIN private key-----\n\(inner)",
                    code: .damaged,
                    word: "unreadable"
                ),
                Wrong(name: "cut off", text: String(pem.prefix(150)), code: .damaged, word: "cut off"),
                Wrong(name: "no body", text: block("PRIVATE KEY", ""), code: .damaged, word: "nothing between"),
                Wrong(name: "stars", text: block("PRIVATE KEY", "********"), code: .damaged, word: "characters"),
                Wrong(name: "umlauts", text: block("PRIVATE KEY", "Schlüssel"), code: .damaged, word: "characters"),
                Wrong(name: "short body", text: block("PRIVATE KEY", "AAAA"), code: .damaged, word: "no key"),
                Wrong(
                    name: "half a body", text: block("PRIVATE KEY", "\(inner.prefix(80))"), code: .damaged,
                    word: "no key"),
                Wrong(name: "a flipped character", text: block("PRIVATE KEY", "\(flipped)"), code: .damaged, word: ""),
                Wrong(
                    name: "encrypted PKCS8",
                    text: block("ENCRYPTED PRIVATE KEY", inner),
                    code: .encrypted,
                    word: "encrypted"
                ),
                Wrong(
                    name: "encrypted SEC1",
                    text: block(
                        "EC PRIVATE KEY",
                        "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF\n\n\(inner)"
                    ),
                    code: .encrypted,
                    word: "encrypted"
                ),
                Wrong(
                    name: "a certificate", text: block("CERTIFICATE", inner), code: .certificate, word: "certificate"),
                Wrong(
                    name: "a certificate request",
                    text: block("CERTIFICATE REQUEST", inner),
                    code: .certificate,
                    word: "request"
                ),
                Wrong(name: "a public key", text: publicPEM, code: .publicKey, word: "public key"),
                Wrong(
                    name: "an RSA public key", text: block("RSA PUBLIC KEY", inner), code: .publicKey, word: "public"),
                Wrong(
                    name: "an OpenSSH key",
                    text: block("OPENSSH PRIVATE KEY", inner),
                    code: .unsupported,
                    word: "OpenSSH"
                ),
                Wrong(
                    name: "parameters", text: block("DH PARAMETERS", inner), code: .unsupported, word: "DH PARAMETERS"),
                Wrong(name: "two keys", text: pem + pem, code: .severalKeys, word: "2 private keys"),
            ]
        }
    }

    @Test(arguments: try Wrong.all())
    func `what is no usable private key is named, without any of it in the message`(_ wrong: Wrong) throws {
        let error = try #require(throws: KeyError.self) { try PrivateKey(pem: wrong.text) }
        #expect(error.code == wrong.code, "\(error)")
        #expect(error.description.contains(wrong.word), "\(error)")
        let secret = try TestKeys.p256.pem.filter { $0 != "\n" }.dropFirst(27).prefix(150)
        for start in stride(from: 0, to: 140, by: 4) {
            #expect(!error.description.contains(secret.dropFirst(start).prefix(8)))
        }
    }

    @Test func `a key with a certificate beside it is the key`() throws {
        let body = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        #expect(try PrivateKey(pem: body + TestKeys.p256.pem).kind == .p256)
    }

    @Test func `no cut or altered PEM text crashes, and none gives another key`() throws {
        let bytes = Array(try TestKeys.p256.pem.utf8)
        for index in bytes.indices {
            let cut = String(decoding: bytes[..<index], as: UTF8.self)
            // The key is complete once its last dash is there.
            #expect(index >= bytes.count - 1 || (try? PrivateKey(pem: cut)) == nil)
            for replacement: UInt8 in [0, 0x0A, UInt8(ascii: "A"), UInt8(ascii: "-"), UInt8(ascii: "\\"), 0xFF] {
                var altered = bytes
                altered[index] = replacement
                guard let key = try? PrivateKey(pem: String(decoding: altered, as: UTF8.self)) else { continue }
                // The public half may have come through a fault in the private one: only a signature tells.
                let signature = try key.sign(es256: [1, 2, 3])
                #expect(TestKeys.p256.publicKey.verify(es256Raw: signature, over: [1, 2, 3]))
            }
        }
    }

    // MARK: - The kind that is needed

    @Test func `a key of the wrong kind says what it is and what is needed`() throws {
        #expect(TestKeys.p384.kind == .otherCurve("P-384"))
        #expect(throws: Never.self) { try TestKeys.p256.requireP256() }
        #expect(throws: Never.self) { try TestKeys.rsa.requireRSA() }
        let notP256 = try #require(throws: KeyError.self) { try TestKeys.rsa.requireP256() }
        #expect(notP256.description == "needs an EC P-256 key (.p8 from Apple); this is RSA 2048")
        let alsoNot = try #require(throws: KeyError.self) { try TestKeys.p384.requireP256() }
        #expect(alsoNot.description == "needs an EC P-256 key (.p8 from Apple); this is EC P-384")
        let notRSA = try #require(throws: KeyError.self) { try TestKeys.p256.requireRSA() }
        #expect(notRSA.description.hasSuffix("this is EC P-256"))
        let short = try #require(throws: KeyError.self) { try PrivateKey.generateRSA(bits: 1024).requireRSA() }
        #expect(short.description.hasSuffix("this is RSA 1024"))
    }

    @Test func `a key of the wrong kind does not sign`() {
        #expect(throws: KeyError.self) { try TestKeys.rsa.sign(es256: [1]) }
        #expect(throws: KeyError.self) { try TestKeys.p384.sign(es256: [1]) }
        #expect(throws: KeyError.self) { try TestKeys.p256.sign(rs256: [1]) }
    }

    @Test func `a printed key shows its kind only`() {
        #expect("\(TestKeys.p256)" == "EC P-256 private key")
        #expect("\(TestKeys.rsa.publicKey)" == "RSA 2048 public key")
    }

    @Test func `an Ed25519 key is read and named`() throws {
        // RFC 8410, section 10.3.
        let pem = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
            -----END PRIVATE KEY-----
            """
        #expect(try PrivateKey(pem: pem).kind == .other("ED25519"))
    }
}
