/// An address in the one form that is sent: checked and normalised, never raw text of a row.
package struct DeviceToken: Hashable, Sendable {
    package let text: String

    /// Why a stored token cannot be an address. Never carries the token itself.
    package enum Malformed: String, CaseIterable, Error, Equatable {
        case empty = "token_empty"
        case notHexadecimal = "token_not_hexadecimal"
        case oddLength = "token_odd_length"
        case badLength = "token_bad_length"
        case forbiddenCharacter = "token_forbidden_character"
    }

    /// Normalises a stored token.
    ///
    /// APNs: spaces and angle brackets (an old way to print tokens) are removed, upper case becomes lower; then only
    /// an even number of hexadecimal digits, 16 to 400, is accepted, since Apple promises no length.
    /// FCM: surrounding white space is removed; then printable ASCII without spaces, at most 4096 characters.
    package init(stored: String, platform: Platform) throws(Malformed) {
        switch platform {
        case .ios: self.text = try Self.hexadecimal(stored)
        case .android: self.text = try Self.registration(stored)
        }
    }

    private static func hexadecimal(_ stored: String) throws(Malformed) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(stored.utf8.count)
        for byte in stored.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): digits.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digits.append(byte | 0x20)
            case UInt8(ascii: " "), UInt8(ascii: "<"), UInt8(ascii: ">"), 0x09, 0x0A, 0x0D: continue
            default: throw .notHexadecimal
            }
        }
        guard !digits.isEmpty else { throw .empty }
        guard digits.count.isMultiple(of: 2) else { throw .oddLength }
        guard (16...400).contains(digits.count) else { throw .badLength }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func registration(_ stored: String) throws(Malformed) -> String {
        let whiteSpace: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        let bytes = stored.utf8.drop { whiteSpace.contains($0) }.reversed().drop { whiteSpace.contains($0) }.reversed()
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= 4096 else { throw .badLength }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .forbiddenCharacter }
        return String(decoding: Array(bytes), as: UTF8.self)
    }
}
