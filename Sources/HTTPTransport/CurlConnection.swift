private import CLibCurl
private import Glibc
private import Locking

/// One connection's thread and the handle that wakes it.
final class CurlConnection: @unchecked Sendable {
    // Sendable: `thread` is written before the object is shared and read only to join; the rest is behind a lock.
    private let multi: Locked<MultiHandle?>
    private var thread = pthread_t()

    /// Starts the thread. `body` runs on it with the multi handle; `ended` is the last thing it does.
    init(
        body: @escaping @Sendable (MultiHandle) -> Void, ended: @escaping @Sendable () -> Void
    ) throws(CurlSetupError) {
        guard CurlLibrary.isReady, let pointer = curl_multi_init() else {
            throw CurlSetupError(code: CURLE_FAILED_INIT)
        }
        let multi = MultiHandle(pointer: pointer)
        let handle = Locked<MultiHandle?>(multi)
        self.multi = handle
        let box = ThreadBody {
            body(multi)
            // Under the lock: from here on nobody wakes it.
            handle.withLock { $0 = nil }
            curl_multi_cleanup(multi.pointer)
            ended()
        }
        let context = Unmanaged.passRetained(box)
        guard pthread_create(&self.thread, nil, runThread, context.toOpaque()) == 0 else {
            context.release()
            curl_multi_cleanup(pointer)
            throw CurlSetupError(code: CURLE_OUT_OF_MEMORY)
        }
    }

    /// Makes the thread ask for work. From any thread, at any time.
    func wake() {
        self.multi.withLock { handle in
            if let handle { curl_multi_wakeup(handle.pointer) }
        }
    }

    /// Waits for the thread's end; once only.
    func join() {
        // The last reference to a transport may go on one of its own threads, which cannot wait for itself.
        if pthread_equal(self.thread, pthread_self()) != 0 {
            pthread_detach(self.thread)
        } else {
            pthread_join(self.thread, nil)
        }
    }
}

/// The handle belongs to its connection's thread.
struct MultiHandle: @unchecked Sendable {
    // Sendable: elsewhere only `curl_multi_wakeup` is called, which libcurl allows from any thread.
    let pointer: UnsafeMutableRawPointer
}

private enum CurlLibrary {
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let body = Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
    // Signals are the main thread's.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    body.run()
    return nil
}
