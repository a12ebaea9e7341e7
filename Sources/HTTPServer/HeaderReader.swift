internal import CMicroHTTPD

/// Reads the headers out of the library.
final class HeaderReader {
    private var headers: [RequestHead.Item] = []
    private var isValid = true

    /// Nil when one is not text.
    static func headers(of connection: OpaquePointer) -> [RequestHead.Item]? {
        let reader = HeaderReader()
        MHD_get_connection_values_n(
            connection, .HEADER_KIND,
            { context, _, name, nameLength, value, valueLength in
                // Unretained: the reader outlives the call that iterates.
                guard let context else { return .NO }
                return Unmanaged<HeaderReader>.fromOpaque(context).takeUnretainedValue()
                    .add(
                        .init(start: name, count: nameLength),
                        .init(start: value, count: value == nil ? 0 : valueLength))
            }, Unmanaged.passUnretained(reader).toOpaque())
        return withExtendedLifetime(reader) { reader.isValid ? reader.headers : nil }
    }

    private func add(_ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>) -> MHD_Result {
        guard let name = String(validating: name.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self),
            let value = String(validating: value.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self),
            !value.unicodeScalars.contains(where: { $0.value == 0 || $0 == "\n" || $0 == "\r" })
        else {
            self.isValid = false
            return .NO
        }
        self.headers.append(RequestHead.Item(name, value))
        return .YES
    }
}
