internal import struct FoundationEssentials.Data
internal import class FoundationEssentials.JSONDecoder
internal import class FoundationEssentials.JSONEncoder

/// Any JSON value, with whole numbers kept apart from others.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without a fraction that fits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The deepest nesting that is read. The answers and tokens read with this have four levels; the time the decoder
    /// takes grows with the square of the depth.
    package static let deepest = 16

    /// Reads one JSON text (UTF-8), nil when it is none. Nesting and length are limited.
    package init?(json: [UInt8], longest: Int = 64 * 1024) {
        guard json.count <= longest, Self.isFlat(json),
            let value = try? JSONDecoder().decode(JSONValue.self, from: Data(json))
        else {
            return nil
        }
        self = value
    }

    /// Whether no bracket is inside more than ``deepest``. A zero byte is refused: the decoder would take it for a sign of
    /// UTF-16, whose brackets are not counted here.
    private static func isFlat(_ json: [UInt8]) -> Bool {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for byte in json {
            switch byte {
            case 0: return false
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isInString
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if !isInString { depth += 1 }
                if depth > Self.deepest { return false }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if !isInString { depth -= 1 }
            default: break
            }
        }
        return true
    }

    /// The JSON text, without white space; keys sorted, slashes as they are.
    package var json: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .array(let values): return "[\(values.map(\.json).joined(separator: ","))]"
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            return "{\(sorted.map { "\(Self.string($0.key).json):\($0.value.json)" }.joined(separator: ","))}"
        case .number, .string: return self.scalar
        }
    }

    private var scalar: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Fails only for a number that JSON cannot write (not finite), which reading never gives.
        guard let data = try? encoder.encode(self) else { return "null" }
        return String(decoding: data, as: UTF8.self)
    }
}

// MARK: - Reading members

extension JSONValue {
    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    package var integer: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    package var object: [String: JSONValue]? {
        guard case .object(let value) = self else { return nil }
        return value
    }

    /// What it is, for a message; never the value.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

// MARK: - Codable

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

// MARK: - Literals

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Of two members with one name the last counts.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}
