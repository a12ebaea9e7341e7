/// The target of a request line, taken apart.
package struct RequestTarget: Hashable, Sendable {
    package var path: String
    package var query: [RequestHead.Item]

    /// More items than any page of ours has are somebody's test of our patience.
    private static let mostItems = 100

    /// Takes origin form (`/path?query`) and absolute form (`http://host/path?query`, as sent to proxies); nil for
    /// anything else, for a bad percent-encoding, bytes that are not UTF-8, a NUL or other control character, a
    /// backslash, and a path that climbs (`..`) or stands still (`.`), written plainly or encoded.
    package init?(_ text: String) {
        var target = Substring(text)
        if !target.hasPrefix("/") {
            guard let scheme = target.firstRange(of: "://"),
                ["http", "https"].contains(target[..<scheme.lowerBound].lowercased())
            else { return nil }
            let afterAuthority = target[scheme.upperBound...].drop { $0 != "/" && $0 != "?" && $0 != "#" }
            target = afterAuthority.hasPrefix("/") ? afterAuthority : "/" + afterAuthority
        }
        target = target.prefix { $0 != "#" }
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        guard let path = Self.decoded(target[..<mark].utf8, plusIsSpace: false), Self.isSafe(path) else { return nil }
        self.path = path
        guard let query = Self.items(of: target[mark...].dropFirst()) else { return nil }
        self.query = query
    }

    private static func isSafe(_ path: String) -> Bool {
        path.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "\\" }
            && !path.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }

    /// The items of a query, or of a form's body (`application/x-www-form-urlencoded`); nil if it is malformed.
    package static func items(of text: Substring) -> [RequestHead.Item]? {
        var items: [RequestHead.Item] = []
        for part in text.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = Self.decoded(part[..<equals], plusIsSpace: true),
                let value = Self.decoded(part[equals...].dropFirst(), plusIsSpace: true),
                !name.utf8.contains(0), !value.utf8.contains(0), items.count < Self.mostItems
            else { return nil }
            items.append(RequestHead.Item(name, value))
        }
        return items
    }

    private static func decoded(_ bytes: Substring.UTF8View, plusIsSpace: Bool) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(Self.digit), let low = rest.next().flatMap(Self.digit) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
