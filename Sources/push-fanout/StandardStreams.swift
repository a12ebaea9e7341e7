// Preconcurrency: `stdout` is a variable of C's, which nobody here assigns to.
@preconcurrency import Glibc

/// The streams a program is started with, and whether what was printed got out.
enum StandardStreams {
    /// Fills the places of those that the starter closed: the connection to the database would get their number
    /// otherwise, and be printed into. What is printed to a closed standard output stays an error.
    static func open() {
        for (descriptor, flags) in [(STDIN_FILENO, O_RDWR), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDWR)]
        where fcntl(descriptor, F_GETFD) == -1 {
            _ = Glibc.open("/dev/null", flags)
        }
    }

    /// Writes out what was printed.
    ///
    /// - Returns: whether all of it, also of earlier, went out.
    static func flush() -> Bool { fflush(stdout) == 0 && ferror(stdout) == 0 }

    /// The exit status: `status`, but for output that was lost. A full disk must not look like a short list.
    static func status(_ status: Int32) -> Int32 {
        guard !Self.flush() else { return status }
        // Who stops reading (head) has what it wanted, and need not be told.
        if !Self.readerIsGone {
            PushFanout.printError(
                "push-fanout: what was printed could not be written to standard output, not all of it")
        }
        return status == PushFanout.ExitStatus.done ? PushFanout.ExitStatus.failed : status
    }

    private static var readerIsGone: Bool {
        var place = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&place, 1, 0) > 0 && place.revents & Int16(POLLERR) != 0
    }
}
