private import CLinux
private import Glibc

/// Wakes a wait on a socket from another thread.
///
/// A call is remembered until a wait has seen it, so one that comes just before the wait is not lost.
final class Interrupter: Sendable {
    /// Readable from a call of `interrupt` until `clear`. Negative if the process has no descriptor left; `poll` skips
    /// it then, and only a wait's own limit ends it.
    let descriptor: Int32

    init() {
        self.descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    }

    deinit {
        if self.descriptor >= 0 { close(self.descriptor) }
    }

    func interrupt() {
        eventfd_write(self.descriptor, 1)
    }

    func clear() {
        var count: UInt64 = 0
        eventfd_read(self.descriptor, &count)
    }
}
