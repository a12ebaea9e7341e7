internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

/// A value that can be read from PostgreSQL's text form.
protocol PostgresDecodable {
    /// What an error says was expected.
    static var postgresName: String { get }

    /// `nil`, if the text is not one of the type.
    init?(postgresText text: UnsafeBufferPointer<UInt8>)

    /// What stands for a null in an array; `nil` where nothing can.
    static var postgresNull: Self? { get }
}

extension PostgresDecodable {
    static var postgresNull: Self? { nil }
}

extension String: PostgresDecodable {
    static var postgresName: String { "text" }

    init?(postgresText text: UnsafeBufferPointer<UInt8>) {
        self = String(decoding: text, as: UTF8.self)
    }
}

extension Int: PostgresDecodable {
    static var postgresName: String { "a whole number" }

    init?(postgresText text: UnsafeBufferPointer<UInt8>) {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty else { return nil }
        // Counted downwards: the smallest number has no positive counterpart.
        var value = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (tenfold, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = tenfold.subtractingReportingOverflow(Int(digit))
            guard !isTooLarge, !isTooLargeNow else { return nil }
            value = sum
        }
        guard isNegative || value != .min else { return nil }
        self = isNegative ? value : -value
    }
}

extension Double: PostgresDecodable {
    static var postgresName: String { "a number" }

    init?(postgresText text: UnsafeBufferPointer<UInt8>) {
        self.init(String(decoding: text, as: UTF8.self))
    }
}

extension Bool: PostgresDecodable {
    static var postgresName: String { "a boolean" }

    init?(postgresText text: UnsafeBufferPointer<UInt8>) {
        guard text.count == 1 else { return nil }
        switch text[0] {
        case UInt8(ascii: "t"): self = true
        case UInt8(ascii: "f"): self = false
        default: return nil
        }
    }
}

extension UUID: PostgresDecodable {
    static var postgresName: String { "a UUID" }

    init?(postgresText text: UnsafeBufferPointer<UInt8>) {
        guard let value = UUIDText.parse(text) else { return nil }
        self = value
    }
}

extension Date: PostgresDecodable {
    static var postgresName: String { "a point in time" }

    /// A timestamp in ISO form, or seconds since 1970 as `extract(epoch from …)` gives them.
    init?(postgresText text: UnsafeBufferPointer<UInt8>) {
        if text.dropFirst().contains(UInt8(ascii: "-")) {
            guard let value = TimestampText.parse(text) else { return nil }
            self = value
        } else {
            guard let seconds = Double(postgresText: text), seconds.isFinite else { return nil }
            self.init(timeIntervalSince1970: seconds)
        }
    }
}

extension Duration: PostgresDecodable {
    static var postgresName: String { "a number of seconds" }

    init?(postgresText text: UnsafeBufferPointer<UInt8>) {
        guard let seconds = Double(postgresText: text), abs(seconds) < 9e12 else { return nil }
        self = .microseconds(Int64((seconds * 1e6).rounded()))
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    static var postgresName: String { Wrapped.postgresName }
    static var postgresNull: Wrapped?? { .some(.none) }

    init?(postgresText text: UnsafeBufferPointer<UInt8>) {
        guard let value = Wrapped(postgresText: text) else { return nil }
        self = .some(value)
    }
}
