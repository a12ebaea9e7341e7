private import Glibc

/// A program the test started: its output line by line, and its end with the object's.
final class ChildProcess {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let id: pid_t
    private let socket: CInt
    private var rest: [UInt8] = []
    private(set) var lines: [String] = []
    private var hasEnded = false

    /// Looks `command[0]` up in `PATH`.
    init(_ command: [String]) throws {
        // A socket, since it can be made close-on-exec at once: children started meanwhile must not keep it open.
        var ends: [CInt] = [0, 0]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure(description: "socketpair: \(String(cString: strerror(errno)))")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id = pid_t()
        let code = posix_spawnp(&id, command[0], &actions, nil, &arguments, environ)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw Failure(description: "\(command[0]): \(String(cString: strerror(code)))")
        }
        self.id = id
        self.socket = ends[0]
    }

    deinit {
        if !self.hasEnded { kill(self.id, SIGKILL) }
        close(self.socket)
        if !self.hasEnded { waitpid(self.id, nil, 0) }
    }

    /// Reads until a line for which `isWanted` holds; thirty seconds at most between two lines.
    @discardableResult
    func line(_ description: String = "a line", where isWanted: (String) -> Bool) throws -> String {
        while let line = try self.nextLine() {
            if isWanted(line) { return line }
        }
        throw Failure(description: "the program ended without \(description)")
    }

    /// Closes the program's input and reads what it still has to say.
    func finish() throws {
        shutdown(self.socket, CInt(SHUT_WR))
        while try self.nextLine() != nil {}
        waitpid(self.id, nil, 0)
        self.hasEnded = true
    }

    /// The exit code, after the program has ended by itself.
    func waitForExit() throws -> CInt {
        while try self.nextLine() != nil {}
        var status: CInt = 0
        waitpid(self.id, &status, 0)
        self.hasEnded = true
        return status
    }

    private func nextLine() throws -> String? {
        while true {
            if let end = self.rest.firstIndex(of: 0x0A) {
                let line = String(decoding: self.rest[..<end], as: UTF8.self)
                self.rest.removeFirst(end + 1)
                self.lines.append(line)
                return line
            }
            var descriptor = pollfd(fd: self.socket, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 30_000) > 0 else {
                throw Failure(description: "nothing came for thirty seconds")
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(self.socket, &buffer, buffer.count)
            guard count > 0 else { return nil }
            self.rest += buffer[..<count]
        }
    }
}
