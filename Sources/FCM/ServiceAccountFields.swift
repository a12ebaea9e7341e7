internal import JSONWebToken

/// The fields of a key file, each checked by itself.
struct ServiceAccountFields {
    enum Name: String {
        case clientEmail = "client_email"
        case privateKey = "private_key"
        case privateKeyID = "private_key_id"
        case projectID = "project_id"
        case tokenURL = "token_uri"
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private let members: [String: JSONValue]

    init(json bytes: [UInt8]) throws(ServiceAccountError) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes
        guard !text.isEmpty else { throw ServiceAccountError(faults: ["it is empty"]) }
        guard let value = JSONValue(json: text) else {
            throw ServiceAccountError(faults: [Self.notJSON(text)])
        }
        guard let members = value.object else {
            throw ServiceAccountError(faults: ["it is \(value.typeName), not a JSON object"])
        }
        if let other = Self.otherFile(members) { throw ServiceAccountError(faults: [other]) }
        self.members = members
    }

    /// The text of a field, or what is wrong with it.
    func text(_ name: Name) -> Result<String, Fault> {
        guard let value = self.members[name.rawValue], value != .null else { return self.fault(name, "is missing") }
        guard let text = value.string else { return self.fault(name, "is \(value.typeName), not a string") }
        guard !text.isEmpty else { return self.fault(name, "is empty") }
        switch name {
        case .privateKey: return .success(text)
        case .clientEmail where !Self.isWord(text) || !text.contains("@"): return self.fault(name, "is no address")
        // It becomes part of a path.
        case .projectID where !text.utf8.allSatisfy(Self.isProjectCharacter) || text.hasPrefix("."):
            return self.fault(name, "has characters that no project id has")
        case .tokenURL where !text.hasPrefix("https://") || text.utf8.count <= 8 || !Self.isWord(text):
            return self.fault(name, "is no https address")
        case .privateKeyID where !Self.isWord(text): return self.fault(name, "has characters that no key id has")
        case .clientEmail, .projectID, .tokenURL, .privateKeyID: return .success(text)
        }
    }

    private func fault(_ name: Name, _ text: String) -> Result<String, Fault> {
        .failure(Fault(description: "\(name.rawValue) \(text)"))
    }

    // MARK: - What was given instead

    private static func notJSON(_ text: [UInt8]) -> String {
        let start = String(decoding: text.prefix(64), as: UTF8.self).drop { $0.isWhitespace }
        if start.hasPrefix("-----BEGIN") { return "it is a PEM text; the whole JSON file is needed" }
        if text.count > 64 * 1024 { return "it is longer than 64 KiB" }
        return "it is not JSON"
    }

    private static func otherFile(_ members: [String: JSONValue]) -> String? {
        if members["project_info"] != nil { return "it is the google-services.json of an app" }
        if members["installed"] != nil || members["web"] != nil { return "it is the file of an OAuth client" }
        switch members["type"] {
        case nil, "service_account": return nil
        case "authorized_user": return "it holds a person's sign-in (type authorized_user)"
        case "external_account": return "it describes workload identity (type external_account), which is not supported"
        default: return "type is not service_account"
        }
    }

    // MARK: - Characters

    /// Printable ASCII without spaces.
    private static func isWord(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && text.utf8.count <= 1024
    }

    /// Letters, digits and hyphens; a colon and a dot for projects of a domain (`example.com:project`).
    private static func isProjectCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
