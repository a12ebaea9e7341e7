package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// Values of rows read from PostgreSQL's text form without a server, so that any text can be tried. Nil for a text that
/// is none of the type. ``PostgresRow`` reads with the same rules.
package enum PostgresText {
    package static func int(_ text: [UInt8]) -> Int? { self.read(text) }
    package static func double(_ text: [UInt8]) -> Double? { self.read(text) }
    package static func bool(_ text: [UInt8]) -> Bool? { self.read(text) }
    package static func uuid(_ text: [UInt8]) -> UUID? { self.read(text) }
    package static func date(_ text: [UInt8]) -> Date? { self.read(text) }
    package static func duration(_ text: [UInt8]) -> Duration? { self.read(text) }
    package static func texts(_ text: [UInt8]) -> [String?]? { self.readArray(text) }
    package static func uuids(_ text: [UInt8]) -> [UUID]? { self.readArray(text) }

    private static func read<Value: PostgresDecodable>(_ text: [UInt8]) -> Value? {
        text.withUnsafeBufferPointer(Value.init(postgresText:))
    }

    private static func readArray<Element: PostgresDecodable>(_ text: [UInt8]) -> [Element]? {
        var elements: [Element] = []
        let isWhole = text.withUnsafeBufferPointer { bytes in
            ArrayText.forEachElement(of: bytes) { element in
                guard let value = element.map(Element.init(postgresText:)) ?? Element.postgresNull else { return false }
                elements.append(value)
                return true
            }
        }
        return isWhole ? elements : nil
    }
}
