/// What came back of one answer so far.
package struct AnswerBuffer {
    static let mostBodyBytes = 64 * 1024
    private static let mostHeaderBytes = 64 * 1024

    private var status = 0
    private var headerBytes: [UInt8] = []
    private var body: [UInt8] = []
    /// Including what was not kept.
    private var bodyCount = 0

    package init() {}

    mutating func reset() {
        self.status = 0
        self.headerBytes.removeAll(keepingCapacity: true)
        self.body = []
        self.bodyCount = 0
    }

    /// One line as libcurl gives it: `HTTP/2 200`, then `name: value` each; an interim answer (1xx) comes first, if any.
    package mutating func appendHeader(_ line: UnsafeRawBufferPointer) {
        if line.starts(with: "HTTP/".utf8) {
            self.headerBytes.removeAll(keepingCapacity: true)
            let digits = line.drop { $0 != 0x20 }.dropFirst().prefix { (0x30...0x39).contains($0) }
            self.status = digits.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        } else if self.headerBytes.count + line.count <= Self.mostHeaderBytes {
            self.headerBytes.append(contentsOf: line)
        }
    }

    package mutating func appendBody(_ bytes: UnsafeRawBufferPointer) {
        self.bodyCount += bytes.count
        self.body.append(contentsOf: bytes.prefix(Self.mostBodyBytes - self.body.count))
    }

    /// The answer, or nil if there is none, or only a piece of one.
    ///
    /// A 2xx counts even if its body was cut off: the request has been accepted, and calling it unknown would send it
    /// again. Any other status needs the body that says why.
    package func makeAnswer(isComplete: Bool) -> HTTPAnswer? {
        guard self.status >= 200 else { return nil }
        let headers = self.parsedHeaders
        guard isComplete || self.status < 300 || headers["content-length"] == String(self.bodyCount) else { return nil }
        return HTTPAnswer(status: self.status, headers: headers, body: self.body)
    }

    private var parsedHeaders: [String: String] {
        var headers: [String: String] = [:]
        for line in self.headerBytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let colon = line.firstIndex(of: 0x3A) else { continue }
            let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
            var value = line[line.index(after: colon)...].drop(while: isSpace)
            while let last = value.last, isSpace(last) { value.removeLast() }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            headers[name] = String(decoding: value, as: UTF8.self)
        }
        return headers
    }
}
