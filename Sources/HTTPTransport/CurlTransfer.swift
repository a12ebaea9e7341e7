internal import CLibCurl
private import COpenSSL

/// An easy handle with the request it carries, used again and again.
///
/// Stays on the thread of its connection. The handle's context pointers are unretained: the connection's loop keeps
/// every transfer until it has taken the handle out of libcurl.
final class CurlTransfer {
    let easy: UnsafeMutableRawPointer
    private unowned let loop: CurlLoop
    private var headers: UnsafeMutablePointer<curl_slist>?

    private(set) var pending: PendingRequest?
    private(set) var started = ContinuousClock.now
    /// Where this transfer stands among the active ones.
    var position = 0
    private var body: [UInt8] = []
    private var bodyOffset = 0
    private var answer = AnswerBuffer()
    /// Whether libcurl has handed the request to the connection: from then on it may have reached the server.
    private(set) var wasSent = false
    private(set) var wasRefusedHTTP1 = false

    init(loop: CurlLoop, configuration: CurlTransport.Configuration) throws(CurlSetupError) {
        guard let easy = curl_easy_init() else { throw CurlSetupError(code: CURLE_FAILED_INIT) }
        self.easy = easy
        self.loop = loop
        try self.setConstants(configuration)
        try self.setCallbacks()
    }

    deinit {
        curl_easy_cleanup(self.easy)
        curl_slist_free_all(self.headers)
    }

    // MARK: - One request

    func prepare(_ pending: PendingRequest, now: ContinuousClock.Instant) throws(CurlSetupError) {
        self.pending = pending
        self.started = now
        self.body = pending.request.body
        self.bodyOffset = 0
        self.answer.reset()
        self.wasSent = false
        self.wasRefusedHTTP1 = false
        try self.setHeaders(pending.request.headers)
        try check(curl_setopt_string(self.easy, CURLOPT_URL, pending.request.url))
        try check(curl_setopt_off(self.easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(self.body.count)))
    }

    /// Ends the use of the transfer for its request.
    func finish() -> PendingRequest? {
        defer { self.pending = nil }
        return self.pending
    }

    /// The answer, if there is one that can be relied upon in spite of an error.
    func answer(despite code: CURLcode) -> HTTPAnswer? {
        self.answer.makeAnswer(isComplete: code == CURLE_OK)
    }

    /// Headers libcurl would add by itself; `name:` takes one out.
    private static let unwanted = ["accept", "content-type", "expect"]

    private func setHeaders(_ headers: [(name: String, value: String)]) throws(CurlSetupError) {
        curl_slist_free_all(self.headers)
        self.headers = nil
        for (name, value) in headers {
            // `name;` is libcurl's way to write a header without a value.
            let line = value.isEmpty ? "\(name);" : "\(name): \(value)"
            let isOneLine = line.utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
            guard isOneLine, !name.isEmpty else { throw CurlSetupError(code: CURLE_BAD_FUNCTION_ARGUMENT) }
            try self.append(line)
        }
        for name in Self.unwanted where !headers.contains(where: { $0.name == name }) { try self.append("\(name):") }
        try check(curl_setopt_list(self.easy, CURLOPT_HTTPHEADER, self.headers))
    }

    private func append(_ line: String) throws(CurlSetupError) {
        // On failure the list stays as it was and ours.
        guard let list = curl_slist_append(self.headers, line) else {
            throw CurlSetupError(code: CURLE_OUT_OF_MEMORY)
        }
        self.headers = list
    }

    // MARK: - Callbacks

    fileprivate func read(into buffer: UnsafeMutablePointer<CChar>, count: Int) -> Int {
        let count = min(count, self.body.count - self.bodyOffset)
        self.body.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, count > 0 else { return }
            UnsafeMutableRawPointer(buffer).copyMemory(from: base + self.bodyOffset, byteCount: count)
        }
        self.bodyOffset += count
        return count
    }

    fileprivate func receive(_ bytes: UnsafeRawBufferPointer) { self.answer.appendBody(bytes) }
    fileprivate func receiveHeader(_ line: UnsafeRawBufferPointer) { self.answer.appendHeader(line) }

    /// The connection stands and the request is about to go out on it.
    fileprivate func mayBegin(localPort: Int) -> Bool {
        // Twice for one request is libcurl sending it again.
        guard !self.wasSent else { return false }
        if !self.loop.isBound {
            guard self.negotiatedHTTP2 else {
                self.wasRefusedHTTP1 = true
                return false
            }
            self.loop.bind(localPort: localPort)
        }
        self.wasSent = true
        self.loop.countSent()
        return true
    }

    /// Before a byte of HTTP is sent. libcurl itself would fall back to HTTP/1.1.
    private var negotiatedHTTP2: Bool {
        var pointer: UnsafeMutableRawPointer?
        guard curl_getinfo_pointer(self.easy, CURLINFO_TLS_SSL_PTR, &pointer) == CURLE_OK,
            let session = pointer?.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee,
            session.backend == CURLSSLBACKEND_OPENSSL, let tls = session.internals
        else { return false }
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(OpaquePointer(tls), &name, &length)
        return UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
    }

    // MARK: - Settings

    private func setConstants(_ configuration: CurlTransport.Configuration) throws(CurlSetupError) {
        let easy = self.easy
        func set(_ option: CURLoption, _ value: Int) throws(CurlSetupError) {
            try check(curl_setopt_long(easy, option, value))
        }
        try set(CURLOPT_NOSIGNAL, 1)
        try check(curl_setopt_string(easy, CURLOPT_PROTOCOLS_STR, "https"))
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // Empty: neither HTTPS_PROXY nor its relatives send the pushes somewhere else.
        try check(curl_setopt_string(easy, CURLOPT_PROXY, ""))
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // Wait for the connection that is being made rather than make another.
        try set(CURLOPT_PIPEWAIT, 1)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        if let file = configuration.caFile { try check(curl_setopt_string(easy, CURLOPT_CAINFO, file)) }
        // Apple asks for an uncached look-up for every connection.
        try set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        try set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.milliseconds)
        // Requests time out in the loop, which costs less than a timer each and covers those that wait in libcurl.
        // Idle connections close there too; libcurl's own limit of 118 s must not come first.
        try set(CURLOPT_MAXAGE_CONN, Int(configuration.idleLimit.components.seconds) + 60)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_TCP_KEEPIDLE, 60)
        try set(CURLOPT_TCP_KEEPINTVL, 15)
        // 64 KiB and 16 KiB for every request in flight otherwise; pushes and answers are small.
        try set(CURLOPT_UPLOAD_BUFFERSIZE, 16 * 1024)
        try set(CURLOPT_BUFFERSIZE, 8 * 1024)
        try set(CURLOPT_POST, 1)
        if let name = configuration.userAgent { try check(curl_setopt_string(easy, CURLOPT_USERAGENT, name)) }
    }

    private func setCallbacks() throws(CurlSetupError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        try check(curl_setopt_pointer(self.easy, CURLOPT_PRIVATE, context))
        try check(curl_setopt_pointer(self.easy, CURLOPT_READDATA, context))
        try check(curl_setopt_data(self.easy, CURLOPT_READFUNCTION, readBody))
        // A refusing seek keeps libcurl from starting a body again: no request goes out twice behind our back.
        try check(curl_setopt_seek(self.easy, CURLOPT_SEEKFUNCTION, refuseSeek))
        try check(curl_setopt_pointer(self.easy, CURLOPT_WRITEDATA, context))
        try check(curl_setopt_data(self.easy, CURLOPT_WRITEFUNCTION, receiveBodyPiece))
        try check(curl_setopt_pointer(self.easy, CURLOPT_HEADERDATA, context))
        try check(curl_setopt_data(self.easy, CURLOPT_HEADERFUNCTION, receiveHeaderLine))
        try check(curl_setopt_pointer(self.easy, CURLOPT_PREREQDATA, context))
        try check(curl_setopt_prerequest(self.easy, CURLOPT_PREREQFUNCTION, beginRequest))
        let loop = Unmanaged.passUnretained(self.loop).toOpaque()
        try check(curl_setopt_pointer(self.easy, CURLOPT_OPENSOCKETDATA, loop))
        try check(curl_setopt_opensocket(self.easy, CURLOPT_OPENSOCKETFUNCTION, openSocket))
    }
}

/// libcurl refused a setting or has no memory.
struct CurlSetupError: Error {
    let code: CURLcode
}

private func check(_ code: CURLcode) throws(CurlSetupError) {
    guard code == CURLE_OK else { throw CurlSetupError(code: code) }
}

extension Duration {
    var milliseconds: Int {
        Int(self.components.seconds) * 1000 + Int(self.components.attoseconds / 1_000_000_000_000_000)
    }
}

// MARK: - C callbacks: free functions, since one written in an isolated context would check for its executor

private func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
}

private func readBody(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
)
    -> Int
{
    guard let buffer, let transfer = transfer(context) else { return Int(CURL_READFUNC_ABORT) }
    return transfer.read(into: buffer, count: size * count)
}

private func refuseSeek(_: UnsafeMutableRawPointer?, _: curl_off_t, _: CInt) -> CInt { CURL_SEEKFUNC_FAIL }

private func receiveBodyPiece(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context)?.receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
    return size * count
}

private func receiveHeaderLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    transfer(context)?.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
    return size * count
}

private func beginRequest(
    _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?, _: UnsafeMutablePointer<CChar>?, _: CInt,
    _ localPort: CInt
) -> CInt {
    transfer(context)?.mayBegin(localPort: Int(localPort)) == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address = address?.pointee else { return CURL_SOCKET_BAD }
    let loop = Unmanaged<CurlLoop>.fromOpaque(context).takeUnretainedValue()
    return loop.openSocket(family: address.family, type: address.socktype, protocol: address.protocol)
}
