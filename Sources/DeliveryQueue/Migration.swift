/// One forward step of the schema `push`: a file, never edited once it has landed.
package struct Migration: Sendable {
    package let version: Int
    package let name: String
    package let sql: String

    /// Every migration, oldest first.
    package static let all: [Migration] = [
        Migration(version: 1, name: "queue", bytes: PackageResources.V0001_queue_sql),
        Migration(version: 2, name: "inspection", bytes: PackageResources.V0002_inspection_sql),
        Migration(version: 3, name: "ends", bytes: PackageResources.V0003_ends_sql),
    ]

    /// Joins the schema with the app's tables; see the file.
    package static func attachment(to source: SourceSchema) -> String {
        replace("{source}", in: String(decoding: PackageResources.attach_sql, as: UTF8.self), source: source)
    }

    private init(version: Int, name: String, bytes: [UInt8]) {
        self.version = version
        self.name = name
        self.sql = String(decoding: bytes, as: UTF8.self)
    }

    /// Right behind an apostrophe the mark stands in an SQL literal, where the other quoting is wanted.
    private static func replace(_ mark: String, in text: String, source: SourceSchema) -> String {
        let pieces = text.split(separator: mark, omittingEmptySubsequences: false)
        return pieces.dropFirst().reduce(into: String(pieces[0])) { result, piece in
            let isInLiteral = result.utf8.last == UInt8(ascii: "'")
            result += (isInLiteral ? source.identifierInLiteral : source.identifier) + piece
        }
    }

    /// FNV-1a over the text, 64 bits: tells an edited file, guards against nothing else.
    package var checksum: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in self.sql.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
