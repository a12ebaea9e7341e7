import Glibc

/// A value behind a lock.
///
/// A pthread mutex rather than `Synchronization.Mutex`: the latter works on raw futexes, which the thread sanitizer
/// cannot see, and so it reports races that are not there.
package final class Locked<Value>: @unchecked Sendable {
    // Sendable: `value` is read and written only with `mutex` held, and the mutex never moves.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        self.mutex = .allocate(capacity: 1)
        pthread_mutex_init(self.mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(self.mutex)
        self.mutex.deallocate()
    }

    /// Runs `body` with the lock held. Keep it short: no waiting, no call that may take this lock again.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return try body(&self.value)
    }
}
