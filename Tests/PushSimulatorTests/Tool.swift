internal import Dispatch
internal import Glibc

/// A command-line client (curl, nghttp, h2load) run to its end.
enum Tool {
    struct Result: Sendable {
        /// As a shell says it; 124 when it was ended for taking too long.
        var exitCode: Int32
        /// Standard output and standard error together.
        var output: String
    }

    struct CannotStart: Error {
        var path: String
        var code: Int32
    }

    /// Runs `path`, for at most `seconds`.
    static func run(_ path: String, _ arguments: [String], seconds: Int = 60) async throws -> Result {
        let words = ["/usr/bin/timeout", String(seconds), path] + arguments
        return try await withCheckedThrowingContinuation { continuation in
            // On a queue of its own: it waits, and the tests' threads are few.
            DispatchQueue(label: "tool").async {
                continuation.resume(with: Swift.Result { try Self.runToEnd(words) })
            }
        }
    }

    private static func runToEnd(_ words: [String]) throws -> Result {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CannotStart(path: words[0], code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Dispatch's threads block signals, `timeout` needs them.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var argv = words.map { strdup($0) } + [nil]
        defer { for word in argv { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, words[0], &actions, &attributes, &argv, environ)
        close(ends[1])
        guard code == 0 else { throw CannotStart(path: words[0], code: code) }
        var output: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = read(ends[0], &piece, piece.count)
            guard count > 0 else { break }
            output.append(contentsOf: piece[..<count])
        }
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        let exitCode = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        return Result(exitCode: exitCode, output: String(decoding: output, as: UTF8.self))
    }
}
