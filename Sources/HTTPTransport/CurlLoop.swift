internal import CLibCurl
private import Glibc

/// What one connection's thread does: a multi handle that is never allowed a second connection.
///
/// Lives on that thread alone. libcurl 7.88 opens connections whenever it sees fit: when the old one died, was told to
/// go away, or refused a stream. Here it may do so only for the first request of a fresh connection (`isBound` is
/// false); afterwards it gets no socket, and what it could not send goes back to the queue. So a probe is always
/// first on a connection, and no request goes out twice.
final class CurlLoop {
    /// What happened since the pool heard last.
    struct News {
        var report = ConnectionReport()
        var returned: [PendingRequest] = []
        var ended: [EndedRequest] = []
        var sent = 0
        var connections = 0
    }

    private let multi: UnsafeMutableRawPointer
    private let configuration: CurlTransport.Configuration
    private var active: [CurlTransfer] = []
    private var spare: [CurlTransfer] = []
    private var news = News()
    private var nextSweep: ContinuousClock.Instant?
    /// Whether the one connection stands.
    private(set) var isBound = false
    private var localPort: Int?

    init(multi: MultiHandle, configuration: CurlTransport.Configuration) {
        self.multi = multi.pointer
        self.configuration = configuration
        // Past its streams libcurl would open more connections, dozens of them; with this limit requests wait.
        curl_multi_setopt_long(self.multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 1)
        curl_multi_setopt_long(self.multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1)
        curl_multi_setopt_long(self.multi, CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.window)
    }

    /// Runs until the pool says that the connection is finished.
    func run(_ exchange: (News) -> ConnectionPool<PendingRequest>.Turn) {
        while true {
            self.sweep()
            let news = self.news
            self.news = News()
            let turn = exchange(news)
            if turn.mustEnd { return }
            let now = ContinuousClock.now
            if turn.mustAbort {
                for transfer in self.active { self.end(transfer, .aborted, now: now) }
                for pending in turn.work { self.fail(pending, "shut_down") }
                continue
            }
            if turn.mayConnect { self.isBound = false }
            for pending in turn.work { self.start(pending, now: now) }
            self.perform()
            if self.news.report.isEmpty { self.poll(until: turn.wakeAt) }
        }
    }

    // MARK: - Called back from transfers

    func bind(localPort: Int) {
        self.isBound = true
        self.news.report.isConnected = true
        guard localPort != self.localPort else { return }
        self.localPort = localPort
        self.news.connections += 1
    }

    func countSent() { self.news.sent += 1 }

    func openSocket(family: CInt, type: CInt, protocol: CInt) -> curl_socket_t {
        self.isBound ? CURL_SOCKET_BAD : socket(family, type | CInt(SOCK_CLOEXEC.rawValue), `protocol`)
    }

    // MARK: - Turns

    private func perform() {
        var running: CInt = 0
        let code = curl_multi_perform(self.multi, &running)
        let now = ContinuousClock.now
        var left: CInt = 0
        while let message = curl_multi_info_read(self.multi, &left) {
            // The message is gone once its handle is removed.
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let result = curl_message_result(message)
            guard let transfer = self.transfer(of: message.pointee.easy_handle) else { continue }
            self.end(transfer, .finished(result), now: now)
        }
        if code != CURLM_OK { self.giveUp(now: now) }
    }

    private func poll(until wakeAt: ContinuousClock.Instant?) {
        let now = ContinuousClock.now
        var wait: Duration = .seconds(60)
        if let wakeAt { wait = min(wait, wakeAt - now) }
        if let nextSweep = self.nextSweep, !self.active.isEmpty { wait = min(wait, nextSweep - now) }
        // Rounded up, or the last millisecond would be spent in turns.
        let milliseconds = CInt(max(0, wait.milliseconds + 1))
        var ready: CInt = 0
        if curl_multi_poll(self.multi, nil, 0, milliseconds, &ready) != CURLM_OK { self.giveUp(now: now) }
    }

    /// libcurl itself failed (no memory, no descriptor): nothing can be expected of this handle any more.
    private func giveUp(now: ContinuousClock.Instant) {
        self.news.report.breakage = "libcurl_failed"
        for transfer in self.active { self.end(transfer, .finished(CURLE_FAILED_INIT), now: now) }
    }

    /// Times out what is too old. libcurl 7.88 leaves the stream open on the server, so the connection is to end soon.
    private func sweep() {
        let now = ContinuousClock.now
        guard let nextSweep = self.nextSweep, now >= nextSweep else { return }
        let limit = self.configuration.requestTimeout
        for transfer in self.active where now - transfer.started >= limit {
            self.end(transfer, .finished(CURLE_OPERATION_TIMEDOUT), now: now)
        }
        self.nextSweep = self.active.map(\.started).min().map { $0 + limit }
    }

    // MARK: - Requests

    private func start(_ pending: PendingRequest, now: ContinuousClock.Instant) {
        var pending = pending
        pending.placements += 1
        do throws(CurlSetupError) {
            let transfer = try self.makeTransfer()
            try transfer.prepare(pending, now: now)
            guard curl_multi_add_handle(self.multi, transfer.easy) == CURLM_OK else {
                throw CurlSetupError(code: CURLE_OUT_OF_MEMORY)
            }
            transfer.position = self.active.count
            self.active.append(transfer)
            if self.nextSweep == nil { self.nextSweep = now + self.configuration.requestTimeout }
        } catch {
            self.fail(pending, error.code == CURLE_OUT_OF_MEMORY ? "out_of_memory" : "invalid_request")
        }
    }

    private func makeTransfer() throws(CurlSetupError) -> CurlTransfer {
        if let spare = self.spare.popLast() { return spare }
        return try CurlTransfer(loop: self, configuration: self.configuration)
    }

    private enum Ending {
        case finished(CURLcode)
        case aborted
    }

    private func end(_ transfer: CurlTransfer, _ ending: Ending, now: ContinuousClock.Instant) {
        curl_multi_remove_handle(self.multi, transfer.easy)
        self.deactivate(transfer)
        guard let pending = transfer.finish() else { return }
        let code: CURLcode =
            switch ending {
            case .finished(let code): code
            case .aborted: CURLE_ABORTED_BY_CALLBACK
            }

        let result: Result<HTTPAnswer, HTTPFailure>
        if let answer = transfer.answer(despite: code) {
            result = .success(answer)
            // APNs lets a connection have its streams once a valid token was seen on it.
            if answer.status != 401, answer.status != 403 { self.news.report.isProven = true }
        } else {
            var failure = HTTPFailure(code: code, wasSent: transfer.wasSent)
            if case .aborted = ending { failure.reason = "shut_down" }
            if transfer.wasRefusedHTTP1 { failure.reason = "http1_refused" }
            result = .failure(failure)
        }
        // A reset stream leaves the connection as it is; after anything else it is not to be trusted. That includes a
        // time-out: packets may be vanishing, libcurl does not ask, and the stream is not closed on the other side.
        let isHarmless = code == CURLE_OK || code == CURLE_HTTP2_STREAM || Self.isAboutRequest(code)
        if !isHarmless, self.news.report.breakage == nil {
            self.news.report.breakage =
                if case .failure(let failure) = result { failure.reason } else { "connection_lost" }
        }

        self.news.report.ended += 1
        if self.isReturnable(code, transfer), pending.placements < PendingRequest.mostPlacements {
            self.news.returned.append(pending)
        } else {
            self.news.ended.append(
                EndedRequest(
                    call: pending.call,
                    exchange: HTTPExchange(id: pending.request.id, result: result, duration: now - transfer.started)
                )
            )
        }
    }

    /// Whether the request was meant for a connection that stood, and found it gone: another can send it.
    private func isReturnable(_ code: CURLcode, _ transfer: CurlTransfer) -> Bool {
        !transfer.wasSent && self.isBound && !transfer.wasRefusedHTTP1 && code != CURLE_OK
            && code != CURLE_OPERATION_TIMEDOUT && code != CURLE_ABORTED_BY_CALLBACK && !Self.isAboutRequest(code)
    }

    private static func isAboutRequest(_ code: CURLcode) -> Bool {
        code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL
    }

    private func fail(_ pending: PendingRequest, _ reason: String) {
        self.news.report.ended += 1
        let failure = HTTPFailure(fate: .notSent, reason: reason)
        let exchange = HTTPExchange(id: pending.request.id, result: .failure(failure), duration: .zero)
        self.news.ended.append(EndedRequest(call: pending.call, exchange: exchange))
    }

    private func transfer(of easy: UnsafeMutableRawPointer?) -> CurlTransfer? {
        var pointer: UnsafeMutableRawPointer?
        guard let easy, curl_getinfo_pointer(easy, CURLINFO_PRIVATE, &pointer) == CURLE_OK, let pointer else {
            return nil
        }
        return Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The last one takes the place of the one that goes.
    private func deactivate(_ transfer: CurlTransfer) {
        let last = self.active.removeLast()
        if last !== transfer {
            last.position = transfer.position
            self.active[transfer.position] = last
        }
        self.spare.append(transfer)
    }
}
