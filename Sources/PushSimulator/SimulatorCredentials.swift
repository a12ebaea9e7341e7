package import Cryptography

/// Throw-away keys and names, on both sides: what the worker is given, and what the simulator checks against.
package struct SimulatorCredentials: Sendable {
    /// The `.p8` of ``apnsKeys``' first key.
    package var apnsPrivateKey: PrivateKey
    /// The keys APNs knows. More than one only where key changes are tested.
    package var apnsKeys: [APNSKey]
    package var serviceAccount: ServiceAccount
    package var serviceAccountPrivateKey: PrivateKey

    package init(
        apnsPrivateKey: PrivateKey, apnsKeys: [APNSKey], serviceAccount: ServiceAccount,
        serviceAccountPrivateKey: PrivateKey
    ) {
        self.apnsPrivateKey = apnsPrivateKey
        self.apnsKeys = apnsKeys
        self.serviceAccount = serviceAccount
        self.serviceAccountPrivateKey = serviceAccountPrivateKey
    }

    /// The bundle ID of generated credentials.
    package static let defaultTopic = "com.example.contacts"
    /// The FCM project of generated credentials.
    package static let defaultProjectID = "simulated-project"

    /// New keys under fixed names: a legacy APNs key, good for both hosts, and a service account.
    package static func generate(
        topic: String = defaultTopic, projectID: String = defaultProjectID
    ) throws(KeyError) -> SimulatorCredentials {
        let apnsKey = try PrivateKey.generateP256()
        let accountKey = try PrivateKey.generateRSA()
        return SimulatorCredentials(
            apnsPrivateKey: apnsKey,
            apnsKeys: [
                APNSKey(keyID: "SIMKEY0001", teamID: "SIMTEAM001", publicKey: apnsKey.publicKey, topics: [topic])
            ],
            serviceAccount: ServiceAccount(
                email: "push@\(projectID).iam.gserviceaccount.com", projectID: projectID,
                keyID: "5f0e1c2d3b4a59687766554433221100ffeeddcc", publicKey: accountKey.publicKey),
            serviceAccountPrivateKey: accountKey)
    }

    /// The service account as the JSON file Google hands out.
    package func serviceAccountJSON(tokenURI: String) throws(KeyError) -> String {
        let privateKey = try self.serviceAccountPrivateKey.pem
        let file: [(String, String)] = [
            ("type", "service_account"), ("project_id", self.serviceAccount.projectID),
            ("private_key_id", self.serviceAccount.keyID), ("private_key", privateKey),
            ("client_email", self.serviceAccount.email), ("client_id", "100000000000000000001"),
            ("auth_uri", "https://accounts.google.com/o/oauth2/auth"), ("token_uri", tokenURI),
            ("universe_domain", "googleapis.com"),
        ]
        let members = file.map { "  \(OrderedJSON.quoted($0.0)): \(OrderedJSON.quoted($0.1))" }
        return "{\n" + members.joined(separator: ",\n") + "\n}\n"
    }
}
