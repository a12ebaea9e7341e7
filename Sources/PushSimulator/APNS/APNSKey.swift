package import Cryptography

/// A key that Apple's portal would list, as the simulator knows it.
package struct APNSKey: Sendable {
    package var keyID: String
    package var teamID: String
    package var publicKey: PublicKey
    /// The hosts the key is good for: both for a legacy key, one for a team-scoped one.
    package var environments: Set<APNSEnvironment>
    /// Bundle IDs the key covers.
    package var topics: Set<String>
    /// Keys of one team with the same relation may follow each other on a connection.
    package var relation: String

    package init(
        keyID: String, teamID: String, publicKey: PublicKey,
        environments: Set<APNSEnvironment> = Set(APNSEnvironment.allCases), topics: Set<String>, relation: String = ""
    ) {
        self.keyID = keyID
        self.teamID = teamID
        self.publicKey = publicKey
        self.environments = environments
        self.topics = topics
        self.relation = relation
    }
}
