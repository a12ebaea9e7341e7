internal import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

extension DeliveryFilter {
    /// A value that cannot be meant, told to the person who wrote it.
    package struct Invalid: Error, Equatable, Sendable, CustomStringConvertible {
        package let field: Field
        package let description: String

        init(_ field: Field, _ fault: String) {
            self.field = field
            self.description = "\(field.rawValue) \(fault)"
        }
    }

    /// Reads the fields that are given; names that are none of ``Field`` are left to the caller, empty values count as
    /// not given (a form sends all of its fields).
    ///
    /// - Parameter now: what times such as `2h` count back from.
    package init(pairs: some Sequence<(name: String, value: String)>, now: Date) throws(Invalid) {
        self.init()
        for (name, value) in pairs where !value.isEmpty {
            guard let field = Field(rawValue: name) else { continue }
            try self.set(field, to: value, now: now)
        }
        if let since, let until, since >= until { throw Invalid(.since, "must lie before until") }
    }

    /// What ``init(pairs:now:)`` reads again.
    package var pairs: [(name: String, value: String)] {
        Field.allCases.compactMap { field in self.text(field).map { (field.rawValue, $0) } }
    }

    /// Nil where the field is not set.
    package func text(_ field: Field) -> String? {
        switch field {
        case .account: self.account?.text
        case .notification: self.notification?.text
        case .device: self.device?.text
        case .kind: self.kind
        case .platform: self.platform?.rawValue
        case .state: self.state?.rawValue
        case .reason: self.reason
        case .since: self.since.map(MomentText.write)
        case .until: self.until.map(MomentText.write)
        }
    }

    private mutating func set(_ field: Field, to text: String, now: Date) throws(Invalid) {
        switch field {
        case .account: self.account = try Self.id(field, text)
        case .notification: self.notification = try Self.id(field, text)
        case .device: self.device = try Self.id(field, text)
        case .kind: self.kind = try Self.word(field, text)
        case .platform: self.platform = try Self.choice(field, text)
        case .state: self.state = try Self.choice(field, text)
        case .reason: self.reason = try Self.word(field, text)
        case .since: self.since = try Self.moment(field, text, now)
        case .until: self.until = try Self.moment(field, text, now)
        }
    }

    private static func id(_ field: Field, _ text: String) throws(Invalid) -> UUID {
        guard let id = UUID(uuidString: text) else { throw Invalid(field, "must be a UUID") }
        return id
    }

    /// No kind or reason is longer; U+0000 is what PostgreSQL cannot compare with.
    private static func word(_ field: Field, _ text: String) throws(Invalid) -> String {
        guard text.utf8.count <= 200, !text.utf8.contains(0) else {
            throw Invalid(field, "is longer than any there is")
        }
        return text
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ field: Field, _ text: String
    ) throws(Invalid) -> Choice {
        guard let choice = Choice(rawValue: text) else {
            throw Invalid(field, "must be one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    private static func moment(_ field: Field, _ text: String, _ now: Date) throws(Invalid) -> Date {
        guard let moment = MomentText.read(text, now: now) else {
            throw Invalid(field, "must be a time such as 2h (ago), 2026-11-30 or 2026-11-30T14:05:00Z")
        }
        return moment
    }
}
