/// Words from outside, made fit for a record, a log line and a page.
package enum ReasonText {
    /// The longest reason kept; the longest APNs documents has 27 characters.
    package static let longest = 40

    /// A provider's own word: letters, digits, `_`, `.` and `-`, what else there is becomes `_`; cut at ``longest``,
    /// so that an answer that repeats our request cannot put a whole token into a record. Nil when nothing is left.
    package static func word(_ text: String) -> String? {
        let bytes = text.utf8.prefix(Self.longest).map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
                byte
            default: UInt8(ascii: "_")
            }
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The reason where a provider gave none.
    package static func status(_ status: Int) -> String { "status_\(status)" }
}
