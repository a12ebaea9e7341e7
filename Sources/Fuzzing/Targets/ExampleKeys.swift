import Cryptography
import FoundationEssentials

/// Keys to begin with, the same in every run: the examples of RFC 7515, appendices A.2 and A.3, known to everybody.
/// They are put together here from their numbers, as the RFC prints them.
enum ExampleKeys {
    /// SEC1, `EC PRIVATE KEY`.
    private static let p256 = DER.sequence(
        DER.integer([1]) + DER.field(0x04, number("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"))
            + DER.field(0xA0, p256Name)
            + DER.field(
                0xA1,
                DER.field(
                    0x03,
                    [0, 4] + number("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
                        + number("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))))
    private static let p256Name: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let ecName: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let rsaName: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    /// PKCS#1, `RSA PRIVATE KEY`.
    private static let rsa = DER.sequence(
        DER.integer([0])
            + [
                """
                ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SF\
                d2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo\
                7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkM\
                Ls91kzk2PAcDTW9gb54h4FRWyuXpoQ
                """,
                "AQAB",
                """
                Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395\
                IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV\
                _0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQ\
                yGWSeWjnczT0QU91p1DhOVRuOopznQ
                """,
                """
                4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7\
                ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc
                """,
                """
                uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wD\
                mpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc
                """,
                """
                BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12S\
                k3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0
                """,
                """
                h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd\
                2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU
                """,
                """
                IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLE\
                dfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U
                """,
            ].flatMap { DER.integer(number($0)) })

    private static let p256PKCS8 = DER.sequence(
        DER.integer([0]) + DER.sequence(ecName + p256Name) + DER.field(0x04, p256))
    private static let rsaPKCS8 = DER.sequence(DER.integer([0]) + DER.sequence(rsaName) + DER.field(0x04, rsa))

    private static func number(_ text: String) -> [UInt8] { Base64URL.decode(text) ?? [] }

    // MARK: - Texts

    /// As Apple and Google give them out, as OpenSSL writes them, and as people paste them; and what is no such key.
    /// One RSA key among many others, since it takes ten times as long.
    static let pemTexts: [String] =
        [DER.pem("RSA PRIVATE KEY", rsa)] + Array(repeating: ellipticTexts, count: 5).joined()

    private static let ellipticTexts: [String] = {
        let apple = DER.pem("PRIVATE KEY", p256PKCS8)
        return [
            apple, apple, apple.replacing("\n", with: "\\n"), apple.replacing("\n", with: " "),
            "\u{FEFF}\"\(apple.replacing("\n", with: "\r\n"))\"", DER.pem("EC PRIVATE KEY", p256),
            DER.pem("PUBLIC KEY", p256),
            DER.pem("CERTIFICATE", p256), DER.pem("ENCRYPTED PRIVATE KEY", p256PKCS8), "/etc/push-fanout/key.p8", "{}",
            "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END EC PRIVATE KEY-----\n",
        ]
    }()

    /// Pieces of the keys that may stand in no message.
    static let secretRuns: [String] = {
        let text = String(decoding: Data(p256PKCS8).base64EncodedData(), as: UTF8.self)
        return [String(text.dropFirst(48).prefix(16)), String(text.dropFirst(64).prefix(16))]
    }()

    /// Most without a good key: reading an RSA key with its trial signature takes a thousand times as long as the rest.
    static let serviceAccounts: [String] = {
        let keys =
            [DER.pem("PRIVATE KEY", rsaPKCS8)] + Array(repeating: "-----BEGIN PRIVATE KEY-----\nAAAA\n", count: 24)
        return keys.map { key in
            """
            {"type":"service_account","project_id":"app-1234","private_key_id":"0f3d","private_key":\
            "\(key.replacing("\n", with: "\\n"))","client_email":"push@app-1234.iam.gserviceaccount.com",\
            "client_id":"1","auth_uri":"https://accounts.google.com/o/oauth2/auth","token_uri":\
            "https://oauth2.googleapis.com/token","universe_domain":"googleapis.com"}
            """
        }
    }()
}

/// The little of ASN.1 that a key needs (X.690).
private enum DER {
    static func field(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            switch count {
            case ..<128: [UInt8(count)]
            case ..<256: [0x81, UInt8(count)]
            default: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
            }
        return [tag] + length + content
    }

    static func sequence(_ content: [UInt8]) -> [UInt8] { self.field(0x30, content) }

    /// Not negative: a leading bit that is set gets a zero before it.
    static func integer(_ bytes: [UInt8]) -> [UInt8] { self.field(0x02, bytes.first ?? 0 > 127 ? [0] + bytes : bytes) }

    static func pem(_ label: String, _ content: [UInt8]) -> String {
        let body = String(
            decoding: Data(content).base64EncodedData(options: [.lineLength64Characters, .endLineWithLineFeed]),
            as: UTF8.self)
        return "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }
}
