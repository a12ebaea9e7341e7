/// Pieces that parsers have stumbled over, put into inputs as they are.
enum Words {
    static let all: [[UInt8]] = Self.texts.map { Array($0.utf8) } + Self.bytes

    private static let texts: [String] = Self.numbers + Self.syntax + Self.unicode

    static let numbers: [String] = [
        "0", "-0", "-1", "1", "00", "0.1", "-0.5", ".5", "5.", "1e5", "1e-5", "1E+400", "1e308", "-1e309", "1e999",
        "5e-324", "2147483647", "2147483648", "4294967296", "9007199254740993", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
        "18446744073709551616", "999999999999999999999999999999", "NaN", "nan", "Infinity", "-inf", "0x10", "1_000",
        "١٢", "1794643200", "1794643200000", "253402300800",
    ]

    private static let syntax: [String] = [
        "", " ", "\t", "\r\n", "\n", "\u{0}", "\"", "\\", "'", ",", ":", ";", ".", "-", "--", "_", "=", "==", "/", "+",
        "{", "}", "[", "]", "(", ")", "<", ">", "{}", "[]", "\"\"", "null", "NULL", "true", "false", "{\"", "\":",
        "\\u0000", "\\u001f", "\\ud800", "\\udc00\\ud800", "\\ud83d\\ude00", "\\uZZZZ", "\\n", "\\\\", "\\x", "%00",
        "%s%n", "../", "//", "<script>", "<!DOCTYPE html>", "{actor}", "{categories}", "{0}", "{1}", "bearer ",
        "-----BEGIN ", "-----END ", "GMT", "UTC", "BC", "infinity", "AAAAAAAA", "a=b", "://", "@", "?", "#", "&",
    ]

    private static let unicode: [String] = [
        "é", "e\u{301}", "\u{301}", "👨‍👩‍👧‍👦", "🇳🇱", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👍🏽", "\u{200D}", "\u{200C}", "\u{200B}", "\u{FEFF}",
        "\u{202E}", "\u{2066}", "\u{2069}", "\u{61C}", "\u{AD}", "\u{85}", "\u{2028}", "\u{2029}", "\u{A0}",
        "\u{3000}", "\u{FFFD}", "\u{10FFFF}", "\u{7F}", "…", "’", "ß", "İ", "ﬁ", "中文", "שלום", "\u{1100}",
        "\u{1161}", "\u{11A8}", "\u{D4E}", "क्", "\u{1F3F4}", "\u{E0067}", "\u{E007F}", "\u{FE0F}", "\u{20E3}",
    ]

    /// No UTF-8: lone and missing continuations, overlong forms, surrogates, beyond the last scalar.
    private static let bytes: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0xAF], [0xC1], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF0, 0x82, 0x82, 0xAC],
        [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88], [0xFE], [0xFF], [0xFF, 0xFE], [0xEF, 0xBB, 0xBF], [0x00, 0x00],
    ]
}
