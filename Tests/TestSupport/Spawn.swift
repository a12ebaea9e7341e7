private import FoundationEssentials
internal import Glibc

/// `posix_spawn`, with what a child of a test should not inherit taken away.
enum Spawn {
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let code: Int32
        var description: String { "cannot start \(self.path): \(String(cString: strerror(self.code)))" }
    }

    /// Two connected descriptors, one for the child. Sockets, as they can be made close-on-exec at once: set afterwards,
    /// a child started in between would keep the other end open.
    static func makeChannel() throws -> (parent: Int32, child: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Failure(path: "socketpair", code: errno) }
        return (ends[0], ends[1])
    }

    /// Descriptors 0 to 2 of the child are the ones given, `/dev/null` for `nil`. All others of this process are opened
    /// with close-on-exec.
    static func process(
        _ path: String, arguments: [String], environment: [String: String]?, input: Int32?, output: Int32?,
        error: Int32?
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, source) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, error)] {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            }
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Dispatch's threads block signals, and a blocked or ignored signal stays so in the child. A process group of its
        // own keeps the terminal's Ctrl-C from it.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let environment = environment ?? ProcessInfo.processInfo.environment
        var argv = ([path] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw Failure(path: path, code: code) }
        return pid
    }
}
