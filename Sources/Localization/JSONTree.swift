/// Any JSON text, so that a fault can be told by its key and its fix instead of a decoder's words.
indirect enum JSONTree: Decodable {
    case object([String: JSONTree])
    case array([JSONTree])
    case string(String)
    case number
    case bool
    case null

    /// No file of ours is deeper; what is further in belongs to a value that is wrong itself, and is not looked at.
    private static let deepest = 8

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.deepest else {
            self = .null
            return
        }
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let members = try? container.decode([String: JSONTree].self) {
            self = .object(members)
        } else if let elements = try? container.decode([JSONTree].self) {
            self = .array(elements)
        } else if container.decodeNil() {
            self = .null
        } else if (try? container.decode(Bool.self)) != nil {
            self = .bool
        } else {
            self = .number
        }
    }

    /// What it is, for an error.
    var typeName: String {
        switch self {
        case .object: "an object"
        case .array: "a list"
        case .string: "a text"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}
