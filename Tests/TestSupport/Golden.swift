import FoundationEssentials
package import Testing

/// Bytes that must not change by accident, one file each under `Tests/Fixtures/golden`, with no newline added.
///
/// `UPDATE_GOLDEN=1 swift test` writes the files anew. The tests fail then, so that it cannot go unnoticed: look at
/// the difference, and run them again without it.
package enum Golden {
    package static func expect(
        _ bytes: [UInt8], is name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let path = "\(Repository.root)/Tests/Fixtures/golden/\(name)"
        guard ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == nil else {
            let folder = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
            #expect(throws: Never.self, sourceLocation: sourceLocation) {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Data(bytes).write(to: URL(filePath: path))
            }
            Issue.record("wrote \(name); run again without UPDATE_GOLDEN", sourceLocation: sourceLocation)
            return
        }
        guard let stored = FileManager.default.contents(atPath: path) else {
            Issue.record("\(name) is missing; UPDATE_GOLDEN=1 writes it", sourceLocation: sourceLocation)
            return
        }
        // Named by its first line that differs: some of these files are long.
        let isSame = bytes == Array(stored)
        #expect(isSame, "\(name): \(Self.difference(bytes, Array(stored)))", sourceLocation: sourceLocation)
    }

    private static func difference(_ bytes: [UInt8], _ stored: [UInt8]) -> String {
        let sides = [bytes, stored].map { bytes in
            bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        let same = zip(sides[0], sides[1]).prefix { $0 == $1 }.count
        let lines = sides.map { $0.count > same ? $0[same] : "the end" }
        return "line \(same + 1) is now\n\(lines[0])\nand was\n\(lines[1])"
    }

    /// Headers, a line each, `name: value`.
    package static func expect(
        _ headers: [(name: String, value: String)], is name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let text = headers.map { "\($0.name): \($0.value)\n" }.joined()
        self.expect(Array(text.utf8), is: name, sourceLocation: sourceLocation)
    }
}
