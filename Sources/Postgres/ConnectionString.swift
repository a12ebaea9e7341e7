private import CLibPQ

/// Reads a connection string with libpq's own parser, and keeps passwords out of what is said about it.
enum ConnectionString {
    struct Option {
        let keyword: String
        let value: String
        let isSecret: Bool
    }

    /// The parameters the string sets, without defaults.
    static func parse(_ text: String) throws(PostgresError) -> [Option] {
        guard !text.utf8.contains(0) else { throw .invalidParameter("a connection string with the character U+0000") }
        var complaint: UnsafeMutablePointer<CChar>?
        guard let first = PQconninfoParse(text, &complaint) else {
            defer { PQfreemem(complaint) }
            throw .invalidParameter(self.explain(complaint.map { String(cString: $0) } ?? "out of memory"))
        }
        defer { PQconninfoFree(first) }
        var options: [Option] = []
        var next = first
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val {
                // libpq marks with "*" what a dialog must hide.
                let isSecret = next.pointee.dispchar.map { String(cString: $0) } == "*"
                options.append(
                    Option(keyword: String(cString: keyword), value: String(cString: value), isSecret: isSecret)
                )
            }
            next += 1
        }
        return options
    }

    /// Refuses a URI whose password holds a character that ends it early.
    ///
    /// libpq would take the rest of the password for a host, port or database name, and name it in its errors.
    static func checkShape(of text: String) throws(PostgresError) {
        // Scalar by scalar, as libpq reads bytes: an @ and a mark behind it are one Character.
        let text = text.unicodeScalars
        guard let scheme = text.firstRange(of: "://".unicodeScalars),
            ["postgresql", "postgres"].contains(String(text[..<scheme.lowerBound]))
        else { return }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let isEndedEarly: Bool
        if let at = authority.firstIndex(of: "@") {
            isEndedEarly = authority[authority.index(after: at)...].contains("@")
        } else {
            let path = rest[authority.endIndex...].prefix { $0 != "?" }
            let portsAreNumbers = authority.split(separator: ",").allSatisfy { host in
                // An address in brackets has colons of its own.
                let port = host.drop { $0 != "]" }.isEmpty ? host[...] : host.drop { $0 != "]" }
                return port.drop { $0 != ":" }.dropFirst().allSatisfy { ("0"..."9").contains($0) }
            }
            isEndedEarly = path.contains("@") || !portsAreNumbers
        }
        guard isEndedEarly else { return }
        throw .invalidParameter(
            "the connection URI cannot be read; percent-encode / @ : ? # % in user name and password (@ is %40)"
        )
    }

    /// libpq's complaint up to what it quotes, which may be a piece of a password.
    private static func explain(_ complaint: String) -> String {
        // Scalar by scalar: a quote and the mark behind it are one Character, and not a quote.
        let beginning = String(complaint.unicodeScalars.prefix { $0 != "\"" })
        return "the connection string cannot be read: \(beginning.trimmed(of: " :\n"))"
    }
}

/// Passwords that must not appear in a message.
struct Redaction: Sendable {
    private let secrets: [String]

    /// Very short ones are left out: replacing every "a" would hide the message, not the password.
    init(secrets: [String]) {
        self.secrets = secrets.filter { $0.utf8.count >= 3 }
    }

    func callAsFunction(_ message: String) -> String {
        // Byte by byte, since a mark behind a secret would make its last letter another Character.
        let bytes = self.secrets.reduce(Array(message.utf8)) { $0.replacing(Array($1.utf8), with: Array("…".utf8)) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// Without any of `characters` at its end.
    func trimmed(of characters: String) -> String {
        var text = self[...]
        while let last = text.last, characters.contains(last) { text.removeLast() }
        return String(text)
    }
}
