internal import APNS
internal import Cryptography
internal import FCM
internal import JSONWebToken
internal import TestSupport
internal import Testing

@testable internal import push_fanout

@Suite struct CredentialTests {
    @Test(arguments: ["APNS_KEY", "APNS_KEY_ID", "APNS_TEAM_ID", "APNS_TOPIC"])
    func `APNs needs all four, and the missing one is named`(_ name: String) throws {
        let complaint = try Complaint { _ = try Given.configuration(Given.apns([name: nil])).apns() }
        #expect(complaint.isOneLine(about: name))
        #expect(complaint.text.contains("not set"))
        #expect(complaint.hasExample, "\(complaint.text)")
        // One alone is a mistake, not a wish to do without APNs.
        let alone = try Complaint {
            _ = try Given.configuration([name: try Given.apns()[name] ?? ""]).apns()
        }
        #expect(alone.text.contains("not set"))
    }

    @Test func `a key is taken in each of its forms`() throws {
        let pem = try TestKeys.p256.pem
        let forms = [
            pem, try TestKeys.p256.traditionalPEM, pem.replacing("\n", with: "\\n"), pem.replacing("\n", with: "\r\n"),
            "  \(pem)\n", "\"\(pem)\"", pem.replacing("\n", with: " "),
        ]
        for form in forms {
            let apns = try #require(try Given.configuration(Given.apns(["APNS_KEY": form])).apns())
            #expect(apns.credentials.key.publicKey == TestKeys.p256.publicKey)
        }
        try Given.withFile(pem) { path in
            let apns = try Given.configuration(Given.apns(["APNS_KEY": nil, "APNS_KEY_FILE": path])).apns()
            #expect(apns?.credentials.key.publicKey == TestKeys.p256.publicKey)
        }
    }

    @Test func `another key than P-256, or none, is refused without a word of it`() throws {
        let (rsa, p384, p256) = (try TestKeys.rsa.pem, try TestKeys.p384.pem, try TestKeys.p256.pem)
        let cut = String(p256.prefix(p256.count / 2))
        let damaged = p256.replacing("MIG", with: "XYZ")
        let values = [
            rsa, p384, cut, damaged, "s3cr3t-p@ssw0rd-of-somebody", "/etc/push-fanout/AuthKey.p8",
            "{\"a\": \"s3cr3t\"}", " ",
            "-----BEGIN PRIVATE KEY-----\ns3cr3t\n-----END PRIVATE KEY-----", String(repeating: "x", count: 70_000),
        ]
        for value in values {
            let complaint = try Complaint { _ = try Given.configuration(Given.apns(["APNS_KEY": value])).apns() }
            #expect(complaint.isOneLine(about: "APNS_KEY"), "\(complaint.text)")
            #expect(complaint.hasExample, "\(complaint.text)")
            Self.expectSecret(value, in: complaint.text)
            // The same from a file: the path may be named, the contents not.
            try Given.withFile(value) { path in
                let complaint = try Complaint {
                    _ = try Given.configuration(Given.apns(["APNS_KEY": nil, "APNS_KEY_FILE": path])).apns()
                }
                #expect(complaint.isOneLine(about: "APNS_KEY"), "\(complaint.text)")
                Self.expectSecret(value, in: complaint.text)
            }
        }
    }

    @Test(arguments: [
        "postgresql://user:s3cr3t-one@s3cr3t-two@h/db",
        "host=h password='s3cr3t", "host=h pass word=s3cr3t", "postgresql://u:s3cr3t%zz@h/db",
        "postgresql://u:s3cr3t@h/db?nonsense=1", "s3cr3t",
    ])
    func `a connection string that cannot be read is not repeated`(_ value: String) throws {
        let complaint = try Complaint { _ = try Given.configuration(["DATABASE_URL": value]).database() }
        #expect(complaint.isOneLine(about: "DATABASE_URL"), "\(complaint.text)")
        #expect(complaint.hasExample)
        #expect(!complaint.text.contains("s3cr3t"), "\(complaint.text)")
    }

    @Test func `a service account that cannot be used is told with its path and never its contents`() throws {
        let key = try TestKeys.rsa.pem
        let good: [String: JSONValue] = [
            "type": "service_account", "client_email": "push@example.iam.gserviceaccount.com",
            "private_key": .string(key), "private_key_id": "0123456789abcdef", "project_id": "example-app",
            "token_uri": "https://oauth2.googleapis.com/token",
        ]
        try Given.withFile(JSONValue.object(good).json) { path in
            let fcm = try #require(try Given.configuration(["GOOGLE_APPLICATION_CREDENTIALS": path]).fcm())
            #expect(fcm.account.projectID == "example-app")
            #expect(fcm.url == "https://fcm.googleapis.com")
        }
        var ec = good
        ec["private_key"] = .string(try TestKeys.p256.pem)
        var without = good
        without["project_id"] = nil
        for text in [JSONValue.object(ec).json, JSONValue.object(without).json, key, "", "s3cr3t", "[]"] {
            try Given.withFile(text) { path in
                let complaint = try Complaint {
                    _ = try Given.configuration(["GOOGLE_APPLICATION_CREDENTIALS": path]).fcm()
                }
                #expect(complaint.isOneLine(about: "GOOGLE_APPLICATION_CREDENTIALS"), "\(complaint.text)")
                #expect(complaint.text.contains(path))
                #expect(complaint.hasExample)
                #expect(
                    complaint.text.components(of: "GOOGLE_APPLICATION_CREDENTIALS").count <= 3,
                    "\(complaint.text)")
                Self.expectSecret(text, in: complaint.text)
            }
        }
        let missing = try Complaint {
            _ = try Given.configuration(["GOOGLE_APPLICATION_CREDENTIALS": "/tmp/no/such/file"]).fcm()
        }
        #expect(missing.isOneLine(about: "GOOGLE_APPLICATION_CREDENTIALS"))
    }

    @Test func `no provider at all is told with what to set`() throws {
        let complaint = try Complaint {
            _ = try ProviderConnections(
                Given.configuration(["PUSH_TEMPLATES": Given.repository + "/templates"]))
        }
        #expect(complaint.text.contains("APNS_KEY") && complaint.text.contains("GOOGLE_APPLICATION_CREDENTIALS"))
    }

    /// No piece of twelve characters of a secret stands in the message.
    private static func expectSecret(_ secret: String, in text: String) {
        #expect(!text.contains("s3cr3t"))
        let characters = Array(secret.filter { !$0.isNewline && $0 != " " })
        guard characters.count >= 12, characters.count < 10_000, !secret.hasPrefix("/") else { return }
        for start in stride(from: 0, through: characters.count - 12, by: 4) {
            let piece = String(characters[start..<(start + 12)])
            guard !piece.contains("-----"), !piece.contains("PRIVATE"), !piece.contains("_"), !piece.contains("\"")
            else {
                continue
            }
            #expect(!text.contains(piece))
        }
    }
}

extension String {
    fileprivate func components(of word: String) -> [Substring] {
        self.split(separator: word, omittingEmptySubsequences: false)
    }
}
