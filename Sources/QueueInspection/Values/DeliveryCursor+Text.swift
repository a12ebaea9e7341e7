internal import PushModel

internal import struct FoundationEssentials.UUID

extension DeliveryCursor: CustomStringConvertible {
    /// `o1764512345678901.9d0d…`: direction, time and id.
    package var description: String {
        (self.direction == .older ? "o" : "n") + "\(self.microseconds).\(self.id.text)"
    }

    /// Nil for a text that is no cursor.
    package init?(_ text: String) {
        guard text.utf8.count <= 64, let first = text.first, first == "o" || first == "n" else { return nil }
        let parts = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let microseconds = Int(parts[0]), Self.storable.contains(microseconds),
            let id = UUID(uuidString: String(parts[1]))
        else { return nil }
        self.init(direction: first == "o" ? .older : .newer, microseconds: microseconds, id: id)
    }

    /// From 1970 to 2200: what lies outside would be an error of PostgreSQL's arithmetic, not an empty page.
    private static let storable = 0...7_258_118_400_000_000
}
