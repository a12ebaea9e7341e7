internal import CMicroHTTPD
private import Dispatch
private import Glibc

/// A started libmicrohttpd: its thread, its listening socket, and the ``Daemon`` its callbacks work with.
final class RunningDaemon: @unchecked Sendable {
    // Sendable: the pointer goes to functions that may be called on any thread, `stop` once by its only caller.
    private let pointer: OpaquePointer
    private let descriptor: Int32
    /// Retained for the callbacks, until the library's thread has ended.
    private let context: Unmanaged<Daemon>

    /// Nil when it does not start; `descriptor` is the caller's to close then.
    init?(_ daemon: Daemon, _ configuration: ServerConfiguration, listeningOn descriptor: Int32) {
        let context = Unmanaged.passRetained(daemon)
        var options = Self.options(configuration, descriptor, context.toOpaque())
        let flags =
            MHD_USE_EPOLL.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        guard let pointer = microhttpd_start(flags, stepCallback, context.toOpaque(), &options) else {
            context.release()
            return nil
        }
        self.pointer = pointer
        self.descriptor = descriptor
        self.context = context
    }

    /// Takes no more connections. The socket stays ours: the library's thread may be about to look at it.
    func quiesce() {
        MHD_quiesce_daemon(self.pointer)
        shutdown(self.descriptor, Int32(SHUT_RD))
    }

    /// Ends the thread and closes every connection. None may be suspended any more.
    func stop() async {
        await withCheckedContinuation { continuation in
            // Waits for the thread, which is not for the shared pool to do.
            DispatchQueue(label: "http-stop").async {
                MHD_stop_daemon(self.pointer)
                close(self.descriptor)
                self.context.release()
                continuation.resume()
            }
        }
    }

    private static func options(
        _ configuration: ServerConfiguration, _ descriptor: Int32, _ context: UnsafeMutableRawPointer
    ) -> [MHD_OptionItem] {
        func option(_ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer? = nil) -> MHD_OptionItem {
            MHD_OptionItem(option: option, value: value, ptr_value: pointer)
        }
        let idleSeconds = max(1, Int(configuration.idleLimit.components.seconds))
        return [
            option(.LISTEN_SOCKET, Int(descriptor)),
            option(.CONNECTION_LIMIT, self.connectionLimit(configuration)),
            option(.PER_IP_CONNECTION_LIMIT, configuration.connectionLimitPerAddress),
            option(.CONNECTION_TIMEOUT, idleSeconds),
            option(.CONNECTION_MEMORY_LIMIT, configuration.headLimit),
            // Refuses what RFC 7230 calls malformed, a request without Host among it.
            option(.STRICT_FOR_CLIENT, 1),
            option(.SIGPIPE_HANDLED_BY_APP, 1),
            option(.NOTIFY_COMPLETED, unsafeBitCast(completedCallback, to: Int.self), context),
            option(.NOTIFY_CONNECTION, unsafeBitCast(connectionCallback, to: Int.self), context),
            option(.URI_LOG_CALLBACK, unsafeBitCast(targetCallback, to: Int.self), context),
            // The target is decoded here, and only once.
            option(.UNESCAPE_CALLBACK, unsafeBitCast(unescapeCallback, to: Int.self), context),
            option(.END, 0),
        ]
    }

    /// The worker needs descriptors of its own, for its database and its providers.
    private static func connectionLimit(_ configuration: ServerConfiguration) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
        return min(configuration.connectionLimit, Int(clamping: limit.rlim_cur / 2))
    }
}

// MARK: - Callbacks
// Free functions' closures, so that no actor's isolation is checked on the library's thread. Each gets the Daemon that
// `RunningDaemon` retains, and an Exchange that `targetCallback` retains and `completedCallback` releases.

private func daemon(_ context: UnsafeMutableRawPointer?) -> Daemon? {
    context.map { Unmanaged<Daemon>.fromOpaque($0).takeUnretainedValue() }
}

/// The request line was read: the first that is heard of a request.
private let targetCallback:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
        context, target, connection in
        guard let daemon = daemon(context), let connection else { return nil }
        daemon.connections.began(Daemon.id(connection))
        let text = target.flatMap { String(validatingCString: $0) } ?? ""
        return Unmanaged.passRetained(Exchange(target: text)).toOpaque()
    }

private let stepCallback: MHD_AccessHandlerCallback = {
    context, connection, _, method, _, chunk, chunkLength, exchange in
    guard let daemon = daemon(context), let connection, let method, let chunkLength,
        let pointer = exchange?.pointee
    else { return .NO }
    let bytes = UnsafeRawBufferPointer(start: chunk, count: chunkLength.pointee)
    let result = daemon.step(
        Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue(), connection, method: String(cString: method),
        chunk: bytes)
    chunkLength.pointee = 0
    return result
}

private let completedCallback: MHD_RequestCompletedCallback = { context, connection, exchange, _ in
    guard let daemon = daemon(context), let connection, let pointer = exchange?.pointee else { return }
    daemon.completed(connection)
    exchange?.pointee = nil
    Unmanaged<Exchange>.fromOpaque(pointer).release()
}

private let connectionCallback: MHD_NotifyConnectionCallback = { context, connection, socketContext, code in
    guard let daemon = daemon(context), let connection else { return }
    switch code {
    case .CONNECTION_NOTIFY_STARTED:
        let id = daemon.connections.opened(microhttpd_socket(connection))
        socketContext?.pointee = UnsafeMutableRawPointer(bitPattern: id)
    case .CONNECTION_NOTIFY_CLOSED:
        daemon.connections.closed(Int(bitPattern: socketContext?.pointee))
    @unknown default: break
    }
}

private let unescapeCallback:
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = { _, _, text in
        text.map { strlen($0) } ?? 0
    }
