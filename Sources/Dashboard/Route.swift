package import PushModel

package import struct FoundationEssentials.UUID

/// Every address of the pages, in one place; nothing else writes a path.
package enum Route: Equatable, Sendable {
    case signIn, signOut
    case overview
    /// The list; a filter and a cursor as name and value pairs.
    case deliveries(Query = Query())
    /// `names=1` asks for names of people.
    case delivery(UUID, Query = Query())
    case notification(UUID, Query = Query())
    case templates(Query = Query())
    case database
    case activity(Query = Query())
    case bulk(UUID)
    case stopBulk(UUID)
    case retry(UUID)
    case cancel(UUID)
    /// The page that counts what a filter matches and asks.
    case confirm(BulkKind, Query)
    /// Starts the action on everything a filter matches.
    case bulkStart(BulkKind)
    case pause(ProviderEndpoint)
    case resume(ProviderEndpoint)
    case asset(String, version: String)
    /// `overview=1`: the parts of the overview. `rows=ID,ID…`: rows of the list. `delivery=ID`: the parts of a timeline.
    /// `bulk=ID`: the parts of a bulk action.
    case events(Query)

    /// What is done to everything a filter matches.
    package enum BulkKind: String, CaseIterable, Sendable {
        case retry, cancel
    }

    /// Path and query, percent-encoded.
    package var address: String {
        switch self {
        case .signIn: "/sign-in"
        case .signOut: "/sign-out"
        case .overview: "/"
        case .deliveries(let query): "/deliveries\(query.encoded)"
        case .delivery(let id, let query): "/deliveries/\(id.text)\(query.encoded)"
        case .notification(let id, let query): "/notifications/\(id.text)\(query.encoded)"
        case .templates(let query): "/templates\(query.encoded)"
        case .database: "/database"
        case .activity(let query): "/activity\(query.encoded)"
        case .bulk(let id): "/bulk/\(id.text)"
        case .stopBulk(let id): "/bulk/\(id.text)/stop"
        case .retry(let id): "/deliveries/\(id.text)/retry"
        case .cancel(let id): "/deliveries/\(id.text)/cancel"
        case .confirm(let kind, let query): "/deliveries/confirm\(query.adding("action", kind.rawValue).encoded)"
        case .bulkStart(let kind): "/deliveries/\(kind.rawValue)"
        case .pause(let endpoint): "/providers/\(Query.percentEncoded(endpoint.rawValue))/pause"
        case .resume(let endpoint): "/providers/\(Query.percentEncoded(endpoint.rawValue))/resume"
        case .asset(let name, let version): "/assets/\(Query.percentEncoded(name))?v=\(Query.percentEncoded(version))"
        case .events(let query): "/events\(query.encoded)"
        }
    }

    /// Name and value pairs of an address, in their order.
    package struct Query: Equatable, Sendable {
        package var pairs: [Pair]

        package struct Pair: Equatable, Sendable {
            package var name: String
            package var value: String
        }

        package init(_ pairs: [(name: String, value: String)] = []) {
            self.pairs = pairs.map { Pair(name: $0.name, value: $0.value) }
        }

        package func adding(_ name: String, _ value: String) -> Query {
            var result = self
            result.pairs.append(Pair(name: name, value: value))
            return result
        }

        package func without(_ name: String) -> Query {
            var result = self
            result.pairs.removeAll { $0.name == name }
            return result
        }

        /// With its question mark; nothing when empty.
        package var encoded: String {
            guard !self.pairs.isEmpty else { return "" }
            let words = self.pairs.map { "\(Self.percentEncoded($0.name))=\(Self.percentEncoded($0.value))" }
            return "?" + words.joined(separator: "&")
        }

        /// All but the unreserved characters of RFC 3986 section 2.3.
        static func percentEncoded(_ text: String) -> String {
            var result = ""
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"):
                    result.unicodeScalars.append(Unicode.Scalar(byte))
                default:
                    let digits = String(byte, radix: 16, uppercase: true)
                    result += byte < 16 ? "%0\(digits)" : "%\(digits)"
                }
            }
            return result
        }
    }
}
