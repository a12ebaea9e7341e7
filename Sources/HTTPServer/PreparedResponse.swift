internal import CMicroHTTPD
internal import Glibc

/// A response in the library's form.
struct PreparedResponse: ~Copyable {
    private let pointer: OpaquePointer
    private let status: Int

    /// Nil when there is no memory for it.
    init?(_ response: Response, _ connection: OpaquePointer) {
        let pointer: OpaquePointer?
        switch response.body {
        case .bytes(var bytes):
            pointer = bytes.withUnsafeMutableBytes {
                MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
            }
        case .events(let stream):
            // Retained until the library frees the response.
            let context = Unmanaged.passRetained(StreamReader(stream: stream, connection: connection)).toOpaque()
            pointer = MHD_create_response_from_callback(
                UInt64.max, 4096,
                { context, _, buffer, count in
                    guard let context, let buffer else { return ssize_t(MHD_CONTENT_READER_END_WITH_ERROR_) }
                    return Unmanaged<StreamReader>.fromOpaque(context).takeUnretainedValue()
                        .read(.init(start: buffer, count: count))
                }, context,
                { context in
                    guard let context else { return }
                    Unmanaged<StreamReader>.fromOpaque(context).takeRetainedValue().stream.close()
                })
            if pointer == nil { Unmanaged<StreamReader>.fromOpaque(context).release() }
        }
        guard let pointer else { return nil }
        self.pointer = pointer
        self.status = response.status
        for header in response.headers { MHD_add_response_header(pointer, header.name, header.value) }
    }

    deinit {
        // The library holds on to it while it is being sent.
        MHD_destroy_response(self.pointer)
    }

    func queue(on connection: OpaquePointer) -> MHD_Result {
        MHD_queue_response(connection, UInt32(self.status), self.pointer)
    }
}

private let MHD_CONTENT_READER_END_WITH_ERROR_ = -2
private let MHD_CONTENT_READER_END_OF_STREAM_ = -1

private final class StreamReader {
    let stream: EventStream
    private let connection: OpaquePointer

    init(stream: EventStream, connection: OpaquePointer) {
        self.stream = stream
        self.connection = connection
    }

    func read(_ target: UnsafeMutableBufferPointer<CChar>) -> ssize_t {
        switch self.stream.take(into: UnsafeMutableRawBufferPointer(target), suspending: self.connection) {
        case .bytes(let count): count
        case .nothingYet: 0
        case .end: ssize_t(MHD_CONTENT_READER_END_OF_STREAM_)
        }
    }
}
