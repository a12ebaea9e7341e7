package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// A value that can be sent as a parameter, in PostgreSQL's text form.
package protocol PostgresEncodable: Sendable {
    /// Whether the value is SQL's null, which has no text.
    var isNull: Bool { get }

    /// Appends the text form, without a terminator. Not called for a null.
    func encode(into bytes: inout [UInt8]) throws(PostgresError)
}

extension PostgresEncodable {
    package var isNull: Bool { false }
}

/// A value that can also stand in an array.
package protocol PostgresArrayElement: PostgresEncodable {
    /// Appends the text form as it stands between the commas of `{…}`; by default the plain form, for types whose text
    /// needs no quotes.
    func encodeElement(into bytes: inout [UInt8]) throws(PostgresError)
}

extension PostgresArrayElement {
    package func encodeElement(into bytes: inout [UInt8]) throws(PostgresError) {
        try self.encode(into: &bytes)
    }
}

extension String: PostgresArrayElement {
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(contentsOf: self.utf8)
    }

    /// Always in quotes: then nothing inside is special but the quote and the backslash, and "" and "NULL" are texts.
    package func encodeElement(into bytes: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        bytes.append(quote)
        if self.utf8.contains(where: { $0 == quote || $0 == backslash }) {
            for byte in self.utf8 {
                if byte == quote || byte == backslash { bytes.append(backslash) }
                bytes.append(byte)
            }
        } else {
            bytes.append(contentsOf: self.utf8)
        }
        bytes.append(quote)
    }
}

extension Int: PostgresArrayElement {
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(contentsOf: self.description.utf8)
    }
}

extension Bool: PostgresArrayElement {
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(self ? UInt8(ascii: "t") : UInt8(ascii: "f"))
    }
}

extension Double: PostgresArrayElement {
    package func encode(into bytes: inout [UInt8]) {
        let text =
            if self.isNaN { "NaN" } else if self.isInfinite { self < 0 ? "-Infinity" : "Infinity" } else {
                self.description
            }
        bytes.append(contentsOf: text.utf8)
    }
}

extension UUID: PostgresArrayElement {
    package func encode(into bytes: inout [UInt8]) {
        UUIDText.append(self, to: &bytes)
    }
}

extension Date: PostgresArrayElement {
    /// As `timestamptz`, in UTC, to the microsecond.
    package func encode(into bytes: inout [UInt8]) throws(PostgresError) {
        try TimestampText.append(self, to: &bytes)
    }

    package func encodeElement(into bytes: inout [UInt8]) throws(PostgresError) {
        bytes.append(UInt8(ascii: "\""))
        try self.encode(into: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}

extension Duration: PostgresArrayElement {
    /// As `interval`, in seconds with microseconds; what is finer is cut off.
    package func encode(into bytes: inout [UInt8]) {
        let (seconds, attoseconds) = self.components
        let microseconds = attoseconds / 1_000_000_000_000
        // Both parts have the same sign, and -0.5 s has no whole second to carry it.
        let sign = seconds < 0 || microseconds < 0 ? "-" : ""
        let fraction = microseconds.magnitude.description
        let padding = String(repeating: "0", count: 6 - fraction.utf8.count)
        bytes.append(contentsOf: "\(sign)\(seconds.magnitude).\(padding)\(fraction) seconds".utf8)
    }

    package func encodeElement(into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        self.encode(into: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    package var isNull: Bool { self?.isNull ?? true }

    package func encode(into bytes: inout [UInt8]) throws(PostgresError) {
        try self?.encode(into: &bytes)
    }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement {
    package func encodeElement(into bytes: inout [UInt8]) throws(PostgresError) {
        switch self {
        case .some(let wrapped): try wrapped.encodeElement(into: &bytes)
        case .none: bytes.append(contentsOf: "NULL".utf8)
        }
    }
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    package func encode(into bytes: inout [UInt8]) throws(PostgresError) {
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        for element in self {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            try element.encodeElement(into: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
