/// One-dimensional arrays as PostgreSQL writes them: `{a,"b \"c\"",NULL}`.
enum ArrayText {
    /// Gives each element's text to `body`, `nil` for null; `false`, if the text is no such array or `body` said so.
    ///
    /// The bytes are valid inside `body` only.
    static func forEachElement(
        of text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>?) -> Bool
    ) -> Bool {
        guard var position = self.start(of: text) else { return false }
        if position < text.count, text[position] == UInt8(ascii: "}") { return position + 1 == text.count }
        var unescaped: [UInt8] = []
        while position < text.count {
            if text[position] == UInt8(ascii: "\"") {
                position += 1
                let start = position
                var hasEscapes = false
                while position < text.count, text[position] != UInt8(ascii: "\"") {
                    if text[position] == UInt8(ascii: "\\") {
                        hasEscapes = true
                        position += 1
                    }
                    position += 1
                }
                guard position < text.count else { return false }
                let element = UnsafeBufferPointer(rebasing: text[start..<position])
                position += 1
                if hasEscapes {
                    self.unescape(element, into: &unescaped)
                    guard unescaped.withUnsafeBufferPointer(body) else { return false }
                } else {
                    guard body(element) else { return false }
                }
            } else {
                let start = position
                while position < text.count, text[position] != UInt8(ascii: ","), text[position] != UInt8(ascii: "}") {
                    // An array inside the array.
                    if text[position] == UInt8(ascii: "{") { return false }
                    position += 1
                }
                let element = UnsafeBufferPointer(rebasing: text[start..<position])
                guard !element.isEmpty, body(element.elementsEqual("NULL".utf8) ? nil : element) else { return false }
            }
            guard position < text.count else { return false }
            let separator = text[position]
            position += 1
            if separator == UInt8(ascii: "}") { return position == text.count }
            guard separator == UInt8(ascii: ",") else { return false }
        }
        return false
    }

    /// The place after `{`; before it stand bounds, `[0:2]=`, if the array does not count from 1.
    private static func start(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        var position = 0
        if text.first == UInt8(ascii: "[") {
            guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            position = equals + 1
        }
        guard position < text.count, text[position] == UInt8(ascii: "{") else { return nil }
        return position + 1
    }

    private static func unescape(_ element: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        var isEscaped = false
        for byte in element {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                bytes.append(byte)
                isEscaped = false
            }
        }
    }
}
