package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// A row of the app's `notifications` table.
package struct Notification: Equatable, Sendable {
    package var id: UUID
    package var accountID: UUID
    /// As it stands in the row; see ``NotificationKind/init(named:)``.
    package var kindName: String
    package var connectionID: UUID?
    /// Data from another person: never parsed, always cleaned before it is shown.
    package var actorName: String?
    package var actorPronoun: Pronoun
    package var categories: [String]
    package var title: String?
    package var body: String?
    /// Words of a `system` notification by language tag.
    package var translations: [String: Translation]
    package var createdAt: Date
    package var readAt: Date?
    package var ignoredAt: Date?

    package struct Translation: Equatable, Sendable {
        package var title: String?
        package var body: String?

        package init(title: String?, body: String?) {
            self.title = title
            self.body = body
        }
    }

    package init(
        id: UUID, accountID: UUID, kindName: String, connectionID: UUID? = nil, actorName: String? = nil,
        actorPronoun: Pronoun = .neutral, categories: [String] = [], title: String? = nil, body: String? = nil,
        translations: [String: Translation] = [:], createdAt: Date, readAt: Date? = nil, ignoredAt: Date? = nil
    ) {
        self.id = id
        self.accountID = accountID
        self.kindName = kindName
        self.connectionID = connectionID
        self.actorName = actorName
        self.actorPronoun = actorPronoun
        self.categories = categories
        self.title = title
        self.body = body
        self.translations = translations
        self.createdAt = createdAt
        self.readAt = readAt
        self.ignoredAt = ignoredAt
    }
}

/// How the actor is spoken of. Neutral unless the row says otherwise.
package enum Pronoun: String, CaseIterable, Sendable {
    case she, he, neutral

    /// The pronoun of a row: anything but exactly `she` or `he` is neutral.
    package init(column: String?) {
        switch column {
        case "she": self = .she
        case "he": self = .he
        default: self = .neutral
        }
    }
}
