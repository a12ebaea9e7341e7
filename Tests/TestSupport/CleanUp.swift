private import FoundationEssentials
private import Glibc
private import Locking

/// Shell commands that run when this process ends, however it ends.
///
/// A small shell waits on a socket whose other end only this process holds: the kernel closes it, also after a crash or
/// SIGKILL. Then it runs the files of a folder, one command each.
package final class CleanUp: Sendable {
    package static let shared = CleanUp()

    private let folder: URL
    private let channel: Int32
    private let watchdog: pid_t
    private let count = Locked(0)

    private init() {
        self.folder = URL(filePath: "/tmp/push-fanout-cleanup-\(UUID().uuidString)")
        let script =
            #"trap '' HUP INT TERM; read -r _; for command in "$1"/*; do [ -f "$command" ] && sh "$command"; done; rm -rf "$1""#
        do {
            try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: false)
            let ends = try Spawn.makeChannel()
            self.watchdog = try Spawn.process(
                "/bin/sh", arguments: ["-c", script, "push-fanout-cleanup", self.folder.path], environment: nil,
                input: ends.child, output: nil, error: nil
            )
            close(ends.child)
            self.channel = ends.parent
        } catch {
            // A test kit that cannot clean up must not start anything.
            preconditionFailure("no clean-up: \(error)")
        }
        // A run that ends well waits, so that nothing is left when its caller looks.
        atexit { CleanUp.shared.finish() }
    }

    private func finish() {
        close(self.channel)
        waitpid(self.watchdog, nil, 0)
    }

    /// Registers a command; the result takes it back.
    package func add(_ command: String) -> @Sendable () -> Void {
        let number = self.count.withLock { count in
            count += 1
            return count
        }
        let file = self.folder.appending(path: "\(number)")
        try? Data(command.utf8).write(to: file)
        return { try? FileManager.default.removeItem(at: file) }
    }
}
