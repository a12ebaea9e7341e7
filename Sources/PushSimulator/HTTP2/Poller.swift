internal import CLinux
internal import Glibc

/// An epoll instance. Level-triggered; belongs to one thread.
final class Poller {
    private let descriptor: Int32
    private var events = [epoll_event](repeating: epoll_event(), count: 256)

    static let readable = EPOLLIN.rawValue
    static let writable = EPOLLOUT.rawValue

    /// Nil when the system has no descriptor left.
    init?() {
        self.descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard self.descriptor >= 0 else { return nil }
    }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    /// `key` comes back with the descriptor's events.
    func add(_ watched: Int32, key: Int, events: UInt32) {
        self.control(EPOLL_CTL_ADD, watched, key, events)
    }

    func modify(_ watched: Int32, key: Int, events: UInt32) {
        self.control(EPOLL_CTL_MOD, watched, key, events)
    }

    func remove(_ watched: Int32) {
        self.control(EPOLL_CTL_DEL, watched, 0, 0)
    }

    private func control(_ operation: Int32, _ watched: Int32, _ key: Int, _ events: UInt32) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: UInt64(bitPattern: Int64(key))))
        epoll_ctl(self.descriptor, operation, watched, &event)
    }

    /// The keys with something to do, after at most `timeout` milliseconds.
    func wait(timeout: Int32) -> [Int] {
        let count = epoll_wait(self.descriptor, &self.events, Int32(self.events.count), timeout)
        guard count > 0 else { return [] }
        return self.events[..<Int(count)].map { Int(Int64(bitPattern: $0.data.u64)) }
    }
}

/// Wakes a poller from another thread.
final class WakeSignal: Sendable {
    let descriptor: Int32

    /// Nil when the system has no descriptor left.
    init?() {
        let descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    func raise() {
        var one: UInt64 = 1
        _ = write(self.descriptor, &one, 8)
    }

    func lower() {
        var count: UInt64 = 0
        _ = read(self.descriptor, &count, 8)
    }
}
