/// What a request says before its body: all that ``RequestHandler/admit(_:)`` decides from.
package struct RequestHead: Sendable {
    /// The methods served; any other is answered with 405 or 501 before a handler hears of it.
    package enum Method: String, Sendable { case get = "GET", head = "HEAD", post = "POST" }

    /// A name and its value, in the order they came.
    package struct Item: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var method: Method
    /// Decoded; begins with a slash, and holds no NUL, no `.` and no `..` segment.
    package var path: String
    /// Of the query, decoded, in their order; a name without `=` has an empty value.
    package var query: [Item]
    /// As they came: a name may be there more than once, in any case.
    package var headers: [Item]
    /// The peer's numeric address, without the port; an IPv4 address in IPv6 form is told as IPv4.
    package var remoteAddress: String

    package init(
        method: Method, path: String, query: [Item] = [], headers: [Item] = [], remoteAddress: String = "127.0.0.1"
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.remoteAddress = remoteAddress
    }

    /// Every value of a header, whatever the case of its name.
    package func values(_ name: String) -> [String] {
        self.headers.filter { $0.name.utf8.elementsEqual(name.utf8) || $0.name.lowercased() == name.lowercased() }
            .map(\.value)
    }

    /// The value of a header that is there exactly once.
    package func value(_ name: String) -> String? {
        let values = self.values(name)
        return values.count == 1 ? values[0] : nil
    }

    /// The first value of a query item.
    package func queryValue(_ name: String) -> String? {
        self.query.first { $0.name == name }?.value
    }

    /// Every value of a cookie. More than one is a sign of somebody else's cookie: the caller decides.
    package func cookies(_ name: String) -> [String] {
        self.values("cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.drop { $0 == " " }
            guard let equals = pair.firstIndex(of: "="), pair[..<equals] == name else { return nil }
            return String(pair[pair.index(after: equals)...])
        }
    }
}

/// A request with its body, whole.
package struct Request: Sendable {
    package var head: RequestHead
    package var body: [UInt8]

    package init(head: RequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}
