internal import Cryptography
internal import FCM
internal import JSONWebToken
internal import TestSupport
internal import Testing

@Suite struct ServiceAccountTests {
    /// A key file as Google makes it, with `changes` (nil removes a field).
    private static func file(_ changes: [String: JSONValue?] = [:]) throws -> [UInt8] {
        var members: [String: JSONValue] = [
            "type": "service_account",
            "client_email": "push@example-app.iam.gserviceaccount.com",
            "private_key": .string(try TestKeys.rsa.pem),
            "private_key_id": "0123456789abcdef",
            "project_id": "example-app",
            "token_uri": "https://oauth2.googleapis.com/token",
        ]
        for (name, value) in changes { members[name] = value }
        return Array(JSONValue.object(members).json.utf8)
    }

    @Test func `a key file is read`() throws {
        let account = try ServiceAccount(json: Self.file())
        #expect(account.clientEmail == "push@example-app.iam.gserviceaccount.com")
        #expect(account.keyID == "0123456789abcdef")
        #expect(account.projectID == "example-app")
        #expect(account.tokenURL == "https://oauth2.googleapis.com/token")
        #expect(account.key.publicKey == TestKeys.rsa.publicKey)
        #expect(try ServiceAccount(json: [0xEF, 0xBB, 0xBF] + Self.file()) == account)
        #expect("\(account)" == "service account push@example-app.iam.gserviceaccount.com of project example-app")
    }

    @Test func `line ends written as backslash-n, and PKCS1, are taken`() throws {
        let escaped = try TestKeys.rsa.pem.split(separator: "\n").joined(separator: "\\n")
        #expect(try ServiceAccount(json: Self.file(["private_key": .string(escaped)])).projectID == "example-app")
        let old = try TestKeys.rsa.traditionalPEM
        #expect(try ServiceAccount(json: Self.file(["private_key": .string(old)])).projectID == "example-app")
    }

    @Test(arguments: ["client_email", "private_key", "private_key_id", "project_id", "token_uri"])
    func `each field that is missing, empty or of another type is named`(_ name: String) throws {
        let cases: [(JSONValue?, String)] = [
            (nil, "is missing"), (.null, "is missing"), ("", "is empty"), (5, "is a number, not a string"),
            (true, "is true or false, not a string"), (.array([]), "is an array, not a string"),
            (.object([:]), "is an object, not a string"),
        ]
        for (value, fault) in cases {
            let error = try #require(throws: ServiceAccountError.self) {
                try ServiceAccount(json: Self.file([name: value]))
            }
            #expect(error.faults == ["\(name) \(fault)"])
        }
    }

    @Test(arguments: [
        ("client_email", "no at sign"), ("client_email", "a@b c"), ("client_email", "a@b\r\n"),
        ("project_id", "../other"), ("project_id", ".."), ("project_id", "a/b"), ("project_id", "a b"),
        ("project_id", "é"), ("private_key_id", "a\nb"), ("token_uri", "http://oauth2.googleapis.com/token"),
        ("token_uri", "oauth2.googleapis.com/token"), ("token_uri", "https://"), ("token_uri", "https://a b/"),
        ("token_uri", "file:///etc/passwd"), ("private_key", "changeme"),
    ])
    func `a field with a value that cannot be is named`(_ name: String, _ value: String) throws {
        let error = try #require(throws: ServiceAccountError.self) {
            try ServiceAccount(json: Self.file([name: .string(value)]))
        }
        #expect(error.faults.count == 1)
        #expect(error.faults[0].hasPrefix("\(name) "))
        #expect(!error.description.contains(value))
    }

    @Test func `all faults are told at once`() throws {
        let error = try #require(throws: ServiceAccountError.self) {
            try ServiceAccount(json: Self.file(["client_email": nil, "private_key": 7, "token_uri": "x"]))
        }
        #expect(
            error.faults == [
                "client_email is missing", "private_key is a number, not a string", "token_uri is no https address",
            ]
        )
        #expect(error.description.hasPrefix("GOOGLE_APPLICATION_CREDENTIALS is no usable key file"))
    }

    @Test func `the key must be RSA, and not an encrypted or broken one`() throws {
        let rsa = try TestKeys.rsa.pem
        let cases: [(String, String)] = [
            (try TestKeys.p256.pem, "this is EC P-256"),
            (try TestKeys.rsa.publicKey.pem, "is a public key"),
            (rsa.replacing("PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY"), "encrypted with a passphrase"),
            (String(rsa.prefix(500)), "is cut off"),
        ]
        for (pem, fault) in cases {
            let error = try #require(throws: ServiceAccountError.self) {
                try ServiceAccount(json: Self.file(["private_key": .string(pem)]))
            }
            #expect(error.faults.count == 1)
            #expect(error.faults[0].hasPrefix("private_key "))
            #expect(error.faults[0].contains(fault), "\(error)")
            let body = rsa.split(separator: "\n")[3]
            #expect(!error.description.contains(body.prefix(12)))
        }
    }

    @Test(arguments: [
        ("", "it is empty"),
        ("   ", "it is not JSON"),
        ("null", "it is null, not a JSON object"),
        ("[]", "it is an array, not a JSON object"),
        ("\"text\"", "it is a string, not a JSON object"),
        ("{", "it is not JSON"),
        ("{\"client_email\": \"a\nb\"}", "it is not JSON"),
        ("/etc/push-fanout/service-account.json", "it is not JSON"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n", "it is a PEM text; the whole JSON file is needed"),
        ("{\"project_info\": {}, \"client\": []}", "it is the google-services.json of an app"),
        ("{\"installed\": {}}", "it is the file of an OAuth client"),
        ("{\"type\": \"authorized_user\"}", "it holds a person's sign-in (type authorized_user)"),
        (
            "{\"type\": \"external_account\"}",
            "it describes workload identity (type external_account), which is not supported"
        ),
        ("{\"type\": 5}", "type is not service_account"),
    ])
    func `another text or file is named for what it is`(_ text: String, _ fault: String) throws {
        let error = try #require(throws: ServiceAccountError.self) { try ServiceAccount(json: Array(text.utf8)) }
        #expect(error.faults == [fault])
    }

    @Test func `bytes of any kind are refused, and nothing crashes`() throws {
        let file = try Self.file()
        for index in stride(from: 0, to: file.count - 1, by: 7) {
            #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: Array(file[..<index])) }
            var altered = file
            altered[index] = 0xFF
            _ = try? ServiceAccount(json: altered)
        }
        for _ in 0..<200 {
            #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: randomBytes(64)) }
        }
        let deep = Array(String(repeating: "{\"a\":", count: 10_000).utf8)
        #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: deep) }
        let long = [UInt8](repeating: 0x20, count: 100_000)
        #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: long) }
    }
}
