private import CNGHTTP2

/// The server's side of an HTTP/2 connection: bytes in, complete requests and bytes out. No I/O, no clock.
///
/// The number of open streams is limited here and not by nghttp2, which ends the connection where the real service
/// refuses the stream. So nghttp2 is told a limit that is never reached, and ``streamLimit`` replaces it in the
/// SETTINGS frames on their way out.
final class H2Session {
    private let connection: Int
    private let listener: Int
    private let options: H2ConnectionOptions
    /// Nil only until the end of `init`, or when nghttp2 had no memory.
    private var pointer: OpaquePointer?

    private var streams: [Int32: H2Stream] = [:]
    private var requests: [H2Request] = []
    private var fixedStreams: [Int32] = []
    private var streamLimit: Int
    /// The limits that SETTINGS frames which are not sent yet shall carry, in order.
    private var limitsToAdvertise: [Int] = []
    private var refusedStreams = 0
    private var pingsSinceRequest = 0
    private var isDraining = false

    /// Refusals on one connection after which it is ended, as the real service was seen to.
    private static let maxRefusals = 100
    private static let unreachableLimit: UInt32 = 0x7FFF_FFFF

    /// Nil when nghttp2 has no memory.
    init?(connection: Int, listener: Int, options: H2ConnectionOptions) {
        self.connection = connection
        self.listener = listener
        self.options = options
        self.streamLimit = options.maxConcurrentStreams
        guard self.open() else { return nil }
    }

    deinit { nghttp2_session_del(self.pointer) }

    private func open() -> Bool {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return false }
        defer { nghttp2_session_callbacks_del(callbacks) }
        installCallbacks(callbacks)
        var option: OpaquePointer?
        guard nghttp2_option_new(&option) == 0, let option else { return false }
        defer { nghttp2_option_del(option) }
        if !self.options.limitsResets { nghttp2_option_set_stream_reset_rate_limit(option, 1 << 40, 1 << 30) }
        // Unretained: the session is deleted in `deinit`, and calls back only from within calls made here.
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard nghttp2_session_server_new2(&self.pointer, callbacks, context, option) == 0 else { return false }
        let settings: [(nghttp2_settings_id, UInt32)] = [
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 4096),
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, Self.unreachableLimit),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65535), (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16384),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: self.options.maxHeaderListBytes)),
        ]
        return self.submit(settings)
    }

    private func submit(_ settings: [(nghttp2_settings_id, UInt32)]) -> Bool {
        self.limitsToAdvertise.append(self.streamLimit)
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        return nghttp2_submit_settings(self.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count) == 0
    }

    // MARK: - Bytes in

    /// Takes what came from the client; false when the connection cannot go on (what is still to be said, a GOAWAY
    /// with the reason, is in ``nextBytes(_:limit:)``).
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result = nghttp2_session_mem_recv(self.pointer, start, bytes.count)
        return result == bytes.count
    }

    /// The requests that are complete, once.
    func takeRequests() -> [H2Request] {
        guard !self.requests.isEmpty else { return [] }
        let result = self.requests
        self.requests.removeAll(keepingCapacity: true)
        return result
    }

    /// Gives the fixed answer to the requests that wait for it; how many there were.
    func answerFixed() -> Int {
        guard let answer = self.options.fixedAnswer else { return 0 }
        let count = self.fixedStreams.count
        for id in self.fixedStreams {
            guard let stream = self.streams[id] else { continue }
            self.submit(answer, to: stream, echo: stream.messageID)
        }
        self.fixedStreams.removeAll(keepingCapacity: true)
        return count
    }

    // MARK: - Bytes out

    /// Appends what is to be sent, whole frames, until there are `limit` bytes or no more; false when nghttp2 failed.
    func nextBytes(_ output: inout [UInt8], limit: Int) -> Bool {
        while output.count < limit {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(self.pointer, &bytes)
            guard count > 0, let bytes else { return count == 0 }
            let start = output.count
            output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
            // A frame begins with 3 bytes of length, its type, its flags.
            if bytes[3] == UInt8(NGHTTP2_SETTINGS.rawValue), bytes[4] & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 {
                self.advertiseStreamLimit(in: &output, frameAt: start)
            }
        }
        return true
    }

    /// Entries of six bytes, a number and a value, follow the nine bytes of the frame's header.
    private func advertiseStreamLimit(in output: inout [UInt8], frameAt start: Int) {
        guard !self.limitsToAdvertise.isEmpty else { return }
        let limit = UInt32(clamping: self.limitsToAdvertise.removeFirst())
        for entry in stride(from: start + 9, to: output.count - 5, by: 6) {
            guard output[entry] == 0, output[entry + 1] == UInt8(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
            else { continue }
            for byte in 0..<4 { output[entry + 2 + byte] = UInt8(truncatingIfNeeded: limit >> (24 - 8 * byte)) }
        }
    }

    /// Whether there is nothing left to say or hear.
    var isFinished: Bool {
        nghttp2_session_want_read(self.pointer) == 0 && nghttp2_session_want_write(self.pointer) == 0
    }

    /// Streams that are open, answered or not.
    var openStreams: Int { self.streams.count }

    // MARK: - Actions

    func answer(_ answer: H2Answer, stream id: Int32) {
        guard let stream = self.streams[id], !stream.isAnswered else { return }
        self.submit(answer, to: stream, echo: [])
    }

    /// RST_STREAM, after the headers of an answer if there is one.
    func reset(stream id: Int32, code: UInt32, after answer: H2Answer?) {
        guard let stream = self.streams[id], !stream.isAnswered else { return }
        guard let answer else {
            nghttp2_submit_rst_stream(self.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code)
            return
        }
        // A body that fails when it is read becomes INTERNAL_ERROR, so the code is sent by hand from there.
        stream.resetCode = code
        self.submit(answer, to: stream, echo: [])
    }

    func goaway(_ goaway: H2Goaway) {
        self.isDraining = true
        var debugData = Array(goaway.debugData.utf8)
        nghttp2_submit_goaway(
            self.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), goaway.lastStream, goaway.code, &debugData, debugData.count
        )
    }

    /// GOAWAY with the number of the last stream that was received.
    func goaway(code: UInt32, debugData: String) {
        guard !self.isDraining else { return }
        self.goaway(
            H2Goaway(
                lastStream: nghttp2_session_get_last_proc_stream_id(self.pointer), code: code, debugData: debugData))
    }

    func setStreamLimit(_ limit: Int) {
        guard limit != self.streamLimit else { return }
        self.streamLimit = limit
        _ = self.submit([(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, Self.unreachableLimit)])
    }

    private func submit(_ answer: H2Answer, to stream: H2Stream, echo: [UInt8]) {
        stream.isAnswered = true
        stream.answerBody = answer.body
        var block = HeaderBlock()
        block.append(":status", String(answer.status))
        for header in answer.headers { block.append(header.name, header.value) }
        if !echo.isEmpty { block.append("apns-id", echo) }
        var body = nghttp2_data_provider(source: nghttp2_data_source(fd: 0), read_callback: readAnswerBody)
        let hasBody = !answer.body.isEmpty || stream.resetCode != nil
        let id = stream.id
        block.withPairs { pairs, count in
            _ = withUnsafeMutablePointer(to: &body) { body in
                nghttp2_submit_response(self.pointer, id, pairs, count, hasBody ? body : nil)
            }
        }
    }
}

// MARK: - Callbacks: they translate and enqueue

extension H2Session {
    fileprivate func streamOpened(_ id: Int32) {
        guard self.streams.count < self.streamLimit else {
            self.refusedStreams += 1
            let code = UInt32(NGHTTP2_REFUSED_STREAM.rawValue)
            nghttp2_submit_rst_stream(self.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code)
            if self.refusedStreams == Self.maxRefusals {
                self.goaway(code: code, debugData: "maximum active streams violated")
            }
            return
        }
        let stream = H2Stream(id: id)
        self.streams[id] = stream
        // Unretained: `streams` holds it until `streamClosed`.
        nghttp2_session_set_stream_user_data(self.pointer, id, Unmanaged.passUnretained(stream).toOpaque())
    }

    fileprivate func header(
        _ stream: H2Stream, name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) {
        if self.options.fixedAnswer != nil {
            if name.count == 7, name.elementsEqual("apns-id".utf8) { stream.messageID = Array(value) }
            return
        }
        stream.headerListBytes += name.count + value.count + 32
        guard stream.headerListBytes <= self.options.maxHeaderListBytes else {
            stream.headersTooLarge = true
            return
        }
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: name, as: UTF8.self) {
        case ":method": stream.method = text
        case ":path": stream.path = text
        case ":authority": stream.authority = text
        case let name where name.hasPrefix(":"): break
        case let name: stream.headers.append((name, text))
        }
    }

    fileprivate func data(_ stream: H2Stream, _ bytes: UnsafeBufferPointer<UInt8>) {
        stream.bodyCount += bytes.count
        guard self.options.fixedAnswer == nil else { return }
        stream.body.append(contentsOf: bytes.prefix(self.options.maxBodyBytes - stream.body.count))
    }

    fileprivate func requestEnded(_ stream: H2Stream) {
        self.pingsSinceRequest = 0
        guard self.options.fixedAnswer == nil else {
            self.fixedStreams.append(stream.id)
            return
        }
        self.requests.append(
            H2Request(
                connection: self.connection, listener: self.listener, stream: stream.id,
                request: SimulatedRequest(
                    method: stream.method, path: stream.path, authority: stream.authority, headers: stream.headers,
                    body: stream.body, bodyCount: stream.bodyCount, headersTooLarge: stream.headersTooLarge)))
        stream.headers = []
        stream.body = []
    }

    fileprivate func streamClosed(_ id: Int32) { self.streams[id] = nil }

    fileprivate func pinged() {
        self.pingsSinceRequest += 1
        guard let maxPings = self.options.maxPings, self.pingsSinceRequest >= maxPings else { return }
        self.goaway(code: UInt32(NGHTTP2_ENHANCE_YOUR_CALM.rawValue), debugData: "too_many_pings")
    }

    /// Copies the next part of an answer's body; the flags say whether it is the last.
    fileprivate func nextBody(_ id: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>, _ flags: inout UInt32) -> Int {
        guard let stream = self.streams[id] else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        if let code = stream.resetCode {
            nghttp2_submit_rst_stream(self.pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code)
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        let rest = stream.answerBody[stream.answerSent...]
        let count = min(rest.count, buffer.count)
        _ = buffer.update(fromContentsOf: rest.prefix(count))
        stream.answerSent += count
        let ends = stream.answerSent == stream.answerBody.count && !(self.options.endsWithEmptyData && count > 0)
        if ends { flags |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return count
    }
}

/// The session behind a callback's context.
private func session(_ context: UnsafeMutableRawPointer?) -> H2Session? {
    context.map { Unmanaged<H2Session>.fromOpaque($0).takeUnretainedValue() }
}

/// The stream that the session has under this number; nil for one that was refused or is closed.
private func stream(_ pointer: OpaquePointer?, _ id: Int32) -> H2Stream? {
    nghttp2_session_get_stream_user_data(pointer, id).map { Unmanaged<H2Stream>.fromOpaque($0).takeUnretainedValue() }
}

/// A free function, so that the closures have no isolation: nghttp2 calls them on the server's thread.
private func installCallbacks(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
        guard let frame, frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) else { return 0 }
        guard frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        session(context)?.streamOpened(frame.pointee.hd.stream_id)
        return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
        pointer, frame, name, nameLength, value, valueLength, _, context in
        guard let frame, let stream = stream(pointer, frame.pointee.hd.stream_id) else { return 0 }
        session(context)?
            .header(
                stream, name: UnsafeBufferPointer(start: name, count: nameLength),
                value: UnsafeBufferPointer(start: value, count: valueLength))
        return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { pointer, _, id, bytes, count, context in
        guard let stream = stream(pointer, id) else { return 0 }
        session(context)?.data(stream, UnsafeBufferPointer(start: bytes, count: count))
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { pointer, frame, context in
        guard let header = frame?.pointee.hd else { return 0 }
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0,
                let stream = stream(pointer, header.stream_id)
            else { return 0 }
            session(context)?.requestEnded(stream)
        case NGHTTP2_PING.rawValue where UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue == 0:
            session(context)?.pinged()
        default: break
        }
        return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, context in
        session(context)?.streamClosed(id)
        return 0
    }
}

private func readAnswerBody(
    _: OpaquePointer?, id: Int32, buffer: UnsafeMutablePointer<UInt8>?, length: Int,
    flags: UnsafeMutablePointer<UInt32>?, _: UnsafeMutablePointer<nghttp2_data_source>?,
    context: UnsafeMutableRawPointer?
) -> Int {
    guard let session = session(context), let flags else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
    return session.nextBody(id, UnsafeMutableBufferPointer(start: buffer, count: length), &flags.pointee)
}
