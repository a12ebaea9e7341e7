/// Makes JSON of any shape from the names of the examples, and changes JSON by whole values.
struct JSONGrammar {
    let names: [[UInt8]]

    /// The strings of a JSON text, with their quotes: names and values alike.
    static func strings(_ text: [UInt8]) -> [[UInt8]] {
        var strings: [[UInt8]] = []
        var position = 0
        while let start = text[position...].firstIndex(of: UInt8(ascii: "\"")) {
            let end = Self.end(ofStringAt: start, in: text)
            strings.append(Array(text[start..<end]))
            position = end
        }
        return strings
    }

    func text(_ random: inout FuzzRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        self.append(&bytes, &random, depth: 0)
        return bytes
    }

    private func append(_ bytes: inout [UInt8], _ random: inout FuzzRandom, depth: Int) {
        // The outermost is an object, as nearly every answer is; deep inside there are only plain values.
        switch depth == 0 ? 0 : random.below(depth > 5 ? 7 : 10) + (depth > 5 ? 3 : 0) {
        case 0, 1:
            bytes.append(UInt8(ascii: "{"))
            for index in 0..<random.below(5) {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                self.appendString(&bytes, &random)
                bytes.append(UInt8(ascii: ":"))
                self.append(&bytes, &random, depth: depth + 1)
            }
            bytes.append(UInt8(ascii: "}"))
        case 2:
            bytes.append(UInt8(ascii: "["))
            for index in 0..<random.below(4) {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                self.append(&bytes, &random, depth: depth + 1)
            }
            bytes.append(UInt8(ascii: "]"))
        case 3, 4: bytes += Array(random.pick(Words.numbers, or: "0").utf8)
        case 5: bytes += Array(random.pick(["null", "true", "false"], or: "null").utf8)
        case 6: self.appendNest(&bytes, &random)
        default: self.appendString(&bytes, &random)
        }
    }

    private func appendString(_ bytes: inout [UInt8], _ random: inout FuzzRandom) {
        guard random.oneIn(5) else {
            bytes += random.pick(self.names, or: [0x22, 0x22])
            return
        }
        bytes.append(UInt8(ascii: "\""))
        bytes += random.pick(Words.all, or: [])
        bytes.append(UInt8(ascii: "\""))
    }

    /// A hole: one value inside another, mostly shallow.
    private func appendNest(_ bytes: inout [UInt8], _ random: inout FuzzRandom) {
        let depth = random.oneIn(30) ? random.below(1500) : random.below(6)
        let isObject = random.oneIn(2)
        for _ in 0..<depth { bytes += Array((isObject ? "{\"a\":" : "[").utf8) }
        bytes.append(UInt8(ascii: "1"))
        // One in eight never ends.
        guard !random.oneIn(8) else { return }
        for _ in 0..<depth { bytes.append(UInt8(ascii: isObject ? "}" : "]")) }
    }

    // MARK: - Changes

    /// Exchanges, removes or repeats one value, with its name where it has one.
    func change(_ bytes: inout [UInt8], _ random: inout FuzzRandom) {
        let from = random.below(bytes.count + 1)
        guard let colon = bytes[from...].firstIndex(of: UInt8(ascii: ":")) ?? bytes.firstIndex(of: UInt8(ascii: ":"))
        else {
            bytes = self.text(&random)
            return
        }
        let end = Self.end(ofValueAt: colon + 1, in: bytes)
        switch random.below(8) {
        case 0:
            // With the name before it: the comma that is left over is a fault of its own.
            let name = bytes[..<colon].lastIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "{") } ?? colon
            bytes.removeSubrange((name + (bytes[name] == UInt8(ascii: ",") ? 0 : 1))..<max(end, name + 1))
        case 1:
            bytes.insert(
                contentsOf: [UInt8(ascii: ",")] + random.pick(self.names, or: [0x22, 0x22]) + bytes[colon..<end],
                at: end)
        case 2:
            let wrapped = random.oneIn(2) ? ("[", "]") : ("{\"a\":", "}")
            bytes.insert(contentsOf: Array(wrapped.1.utf8), at: end)
            bytes.insert(contentsOf: Array(wrapped.0.utf8), at: colon + 1)
        default:
            var value: [UInt8] = []
            self.append(&value, &random, depth: 3)
            bytes.replaceSubrange((colon + 1)..<end, with: value)
        }
    }

    /// The end of the value that begins at `start`: brackets and strings in pairs, as well as that can be told.
    private static func end(ofValueAt start: Int, in bytes: [UInt8]) -> Int {
        var depth = 0
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): position = self.end(ofStringAt: position, in: bytes) - 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ",") where depth == 0: return position
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return position }
                depth -= 1
            default: break
            }
            position += 1
        }
        return bytes.count
    }

    private static func end(ofStringAt start: Int, in bytes: [UInt8]) -> Int {
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }
}
