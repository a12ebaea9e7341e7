package import Cryptography

/// A Google service account, as its key file describes it: who asks for access tokens, and for which project.
package struct ServiceAccount: Equatable, Sendable, CustomStringConvertible {
    package let clientEmail: String
    package let key: PrivateKey
    package let keyID: String
    /// Part of the address of every push.
    package let projectID: String
    /// Where access tokens are given out, absolute, `https`.
    package let tokenURL: String

    /// Reads the key file that `GOOGLE_APPLICATION_CREDENTIALS` names.
    /// - Throws: `ServiceAccountError` with everything that is wrong, not only the first fault.
    package init(json bytes: [UInt8]) throws(ServiceAccountError) {
        let fields = try ServiceAccountFields(json: bytes)
        var faults: [String] = []
        func take(_ field: ServiceAccountFields.Name) -> String? {
            switch fields.text(field) {
            case .success(let text): return text
            case .failure(let fault):
                faults.append(fault.description)
                return nil
            }
        }
        let clientEmail = take(.clientEmail)
        let keyText = take(.privateKey)
        let keyID = take(.privateKeyID)
        let projectID = take(.projectID)
        let tokenURL = take(.tokenURL)
        let key: PrivateKey?
        do throws(KeyError) {
            key = try keyText.map { (text) throws(KeyError) in try Self.rsaKey(text) }
        } catch {
            key = nil
            faults.append("private_key \(error)")
        }
        guard let clientEmail, let key, let keyID, let projectID, let tokenURL else {
            throw ServiceAccountError(faults: faults)
        }
        self.clientEmail = clientEmail
        self.key = key
        self.keyID = keyID
        self.projectID = projectID
        self.tokenURL = tokenURL
    }

    private static func rsaKey(_ text: String) throws(KeyError) -> PrivateKey {
        let key = try PrivateKey(pem: text)
        try key.requireRSA()
        return key
    }

    package static func == (left: ServiceAccount, right: ServiceAccount) -> Bool {
        left.clientEmail == right.clientEmail && left.keyID == right.keyID && left.projectID == right.projectID
            && left.tokenURL == right.tokenURL && left.key.publicKey == right.key.publicKey
    }

    /// Without the key.
    package var description: String { "service account \(self.clientEmail) of project \(self.projectID)" }
}

/// Everything that is wrong with a service account's key file. Never any of its contents.
package struct ServiceAccountError: Error, Equatable, CustomStringConvertible {
    /// Each begins with the field it is about, or with "it" for the whole file.
    package let faults: [String]

    package var description: String {
        "GOOGLE_APPLICATION_CREDENTIALS is no usable key file of a service account: "
            + self.faults.joined(separator: "; ")
            + ". Example: GOOGLE_APPLICATION_CREDENTIALS=/etc/push-fanout/service-account.json"
            + " (Firebase console, project settings, service accounts, generate new private key)"
    }
}
