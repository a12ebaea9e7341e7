/// Locale tags as phones tell them, in one form, and the chain of languages they stand for.
package enum LanguageTag {
    /// The longest tag that is looked at; BCP 47 asks for 35 characters at least.
    private static let longest = 64

    /// Lower case with hyphens, cut at the first thing that belongs to no tag: `nl_NL.UTF-8` is `nl-nl`. Empty for
    /// nonsense.
    package static func normalised(_ tag: String) -> String {
        var bytes: [UInt8] = []
        for byte in tag.utf8.prefix(Self.longest) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
            case UInt8(ascii: "-"), UInt8(ascii: "_"): bytes.append(UInt8(ascii: "-"))
            case UInt8(ascii: " ") where bytes.isEmpty: continue
            default: return String(decoding: bytes, as: UTF8.self)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The tags to look for, best first: the tag, then the tag without its last parts (RFC 4647 section 3.4), so that
    /// `zh-hant-tw` finds `zh-hant` before `zh`, and English last.
    package static func chain(for tag: String) -> [String] {
        var chain: [String] = []
        var rest = Self.normalised(tag)[...]
        while !rest.isEmpty {
            chain.append(String(rest))
            rest = rest.lastIndex(of: "-").map { rest[..<$0] } ?? ""
        }
        if chain.last != "en" { chain.append("en") }
        return chain
    }
}
