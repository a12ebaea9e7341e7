package import Cryptography

/// What APNs knows a sender by: the key of a `.p8` file, its id, and the team it belongs to.
package struct APNSCredentials: Equatable, Sendable, CustomStringConvertible {
    package let key: PrivateKey
    /// 10 characters, `kid` of the token.
    package let keyID: String
    /// 10 characters, `iss` of the token.
    package let teamID: String

    /// - Throws: `APNSCredentialsError`, naming the variable that is wrong.
    package init(key: PrivateKey, keyID: String, teamID: String) throws(APNSCredentialsError) {
        do {
            try key.requireP256()
        } catch {
            throw APNSCredentialsError(key: error)
        }
        self.key = key
        self.keyID = try Self.identifier(keyID, .keyID)
        self.teamID = try Self.identifier(teamID, .teamID)
    }

    /// As above, from the text of the `.p8` file.
    package init(pem: String, keyID: String, teamID: String) throws(APNSCredentialsError) {
        let key: PrivateKey
        do {
            key = try PrivateKey(pem: pem)
        } catch {
            throw APNSCredentialsError(key: error)
        }
        try self.init(key: key, keyID: keyID, teamID: teamID)
    }

    package static func == (left: APNSCredentials, right: APNSCredentials) -> Bool {
        left.keyID == right.keyID && left.teamID == right.teamID && left.key.publicKey == right.key.publicKey
    }

    package var description: String { "key \(self.keyID) of team \(self.teamID)" }

    /// Ten upper-case letters and digits; white space around them is forgiven, since files end with a line end.
    private static func identifier(
        _ text: String,
        _ variable: APNSCredentialsError.Variable
    ) throws(APNSCredentialsError) -> String {
        var inner = text[...]
        while inner.first?.isWhitespace == true { inner.removeFirst() }
        while inner.last?.isWhitespace == true { inner.removeLast() }
        let text = String(inner)
        guard !text.isEmpty else { throw APNSCredentialsError(variable, "is empty") }
        guard text.count == 10 else {
            throw APNSCredentialsError(variable, "has \(text.count) characters instead of 10")
        }
        guard !text.contains(where: \.isLowercase) else {
            throw APNSCredentialsError(variable, "has lower-case letters; Apple's ids have none")
        }
        let isAllowed = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        guard isAllowed else { throw APNSCredentialsError(variable, "has characters other than A-Z and 0-9") }
        return text
    }
}

/// One line for whoever configures the worker: the variable, its fault, an example. Never any of the value.
package struct APNSCredentialsError: Error, Equatable, CustomStringConvertible {
    package enum Variable: String, Sendable {
        case key = "APNS_KEY"
        case keyID = "APNS_KEY_ID"
        case teamID = "APNS_TEAM_ID"
    }

    package let variable: Variable
    package let fault: String

    init(_ variable: Variable, _ fault: String) {
        self.variable = variable
        self.fault = fault
    }

    init(key error: KeyError) {
        self.init(.key, error.description)
    }

    package var description: String { "\(self.variable.rawValue) \(self.fault). Example: \(self.example)" }

    private var example: String {
        switch self.variable {
        case .key: "APNS_KEY_FILE=/etc/push-fanout/AuthKey_ABC123DEFG.p8"
        case .keyID: "APNS_KEY_ID=ABC123DEFG (it is in the name of the file, AuthKey_ABC123DEFG.p8)"
        case .teamID: "APNS_TEAM_ID=DEF123GHIJ (on the membership page of the developer account)"
        }
    }
}
