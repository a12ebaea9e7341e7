internal import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// A JSON text whose keys come in the order in which they are written down: what others script against.
package enum JSONNode: Sendable, CustomStringConvertible {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case array([JSONNode])
    case object([(name: String, value: JSONNode)])

    package static func optional(_ text: String?) -> JSONNode { text.map { .text($0) } ?? .null }
    package static func optional(_ number: Int?) -> JSONNode { number.map { .integer($0) } ?? .null }
    package static func optional(_ number: Double?) -> JSONNode { number.map { .number($0) } ?? .null }
    package static func id(_ id: UUID?) -> JSONNode { self.optional(id?.text) }
    /// `2026-11-30T14:05:00.123Z`.
    package static func moment(_ moment: Date?) -> JSONNode { self.optional(moment.map(MomentText.write)) }

    /// On one line.
    package var description: String {
        var text = ""
        self.write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += "\(value)"
        // JSON has no word for what is no number.
        case .number(let value): text += value.isFinite ? "\(value)" : "null"
        case .text(let value): Self.quote(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let fields):
            text += "{"
            for (index, field) in fields.enumerated() {
                if index > 0 { text += "," }
                Self.quote(field.name, to: &text)
                text += ":"
                field.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func quote(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case _
            where scalar.value < 0x20 || scalar.value == 0x7F || (0x80...0x9F).contains(scalar.value)
                || scalar.value == 0x2028 || scalar.value == 0x2029:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
