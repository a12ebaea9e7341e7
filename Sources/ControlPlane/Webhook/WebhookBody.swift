import DeliveryQueue

import struct FoundationEssentials.Data
import class FoundationEssentials.JSONDecoder
import struct FoundationEssentials.UUID

/// What a database webhook says: a hint about one row. Only its id is taken from it.
enum WebhookBody: Equatable {
    case insert(UUID)
    case update(UUID)
    case delete(UUID)
    /// Of another table: nothing of ours.
    case otherTable

    struct Malformed: Error, Equatable, CustomStringConvertible {
        /// Quotes nothing of the body.
        let description: String
    }

    /// Reads Supabase's form, `{type, table, schema, record, old_record}`; members beside these are ignored.
    init(_ bytes: [UInt8], source: SourceSchema) throws(Malformed) {
        let form: Form
        do {
            form = try JSONDecoder().decode(Form.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw Malformed(description: Self.reason(error))
        } catch {
            throw Malformed(description: "the body is not JSON")
        }
        guard form.table == "notifications", form.schema == source.name else {
            self = .otherTable
            return
        }
        switch form.type {
        case "INSERT": self = .insert(try Self.id(of: form.record, "record"))
        case "UPDATE": self = .update(try Self.id(of: form.record, "record"))
        case "DELETE": self = .delete(try Self.id(of: form.oldRecord, "old_record"))
        default: throw Malformed(description: "type must be INSERT, UPDATE or DELETE")
        }
    }

    private static func id(of row: Row?, _ member: String) throws(Malformed) -> UUID {
        guard let row else { throw Malformed(description: "\(member) is missing") }
        guard let id = row.id.flatMap(UUID.init(uuidString:)) else {
            throw Malformed(description: "\(member).id must be a UUID")
        }
        return id
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "the body must be an object" : "\(path) has the wrong type"
        default: return "the body is not JSON"
        }
    }

    private struct Form: Decodable {
        var type: String
        var table: String
        var schema: String
        var record: Row?
        var oldRecord: Row?

        enum CodingKeys: String, CodingKey {
            case type, table, schema, record
            case oldRecord = "old_record"
        }
    }

    private struct Row: Decodable {
        /// Nil where it is none, as in rows of other tables.
        var id: String?

        enum CodingKeys: String, CodingKey { case id }

        init(from decoder: any Decoder) throws {
            self.id = try? decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .id)
        }
    }
}
