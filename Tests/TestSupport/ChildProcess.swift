private import Dispatch
private import FoundationEssentials
private import Glibc
private import Locking

/// A program started by a test: its output line by line, its end, signals. Killed when the last reference goes, and when
/// this process ends.
package final class ChildProcess: Sendable {
    package enum Stream: Sendable { case output, error }

    package struct Line: Sendable {
        package let stream: Stream
        package let text: String
    }

    package enum Exit: Equatable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    package let pid: Int32
    private let state: Locked<State>

    /// - Parameter environment: the whole environment; `nil` is this process's.
    package init(_ path: String, arguments: [String] = [], environment: [String: String]? = nil) throws {
        let output = try Spawn.makeChannel()
        let error = try Spawn.makeChannel()
        defer {
            close(output.child)
            close(error.child)
        }
        do {
            self.pid = try Spawn.process(
                path, arguments: arguments, environment: environment, input: nil, output: output.child,
                error: error.child
            )
        } catch let failure {
            close(output.parent)
            close(error.parent)
            throw failure
        }
        let state = Locked(State(pid: self.pid, forget: CleanUp.shared.add("kill -9 \(self.pid) 2>/dev/null")))
        self.state = state
        // Blocking reads on queues of their own; they end with the pipes, so with the child.
        let readers = DispatchGroup()
        for (stream, descriptor) in [(Stream.output, output.parent), (.error, error.parent)] {
            DispatchQueue(label: "child-output").async(group: readers) {
                Self.read(descriptor) { line in state.withLock { $0.add(Line(stream: stream, text: line)) }() }
            }
        }
        let pid = self.pid
        DispatchQueue(label: "child-exit").async {
            Self.waitForEnd(of: pid)
            // What it wrote last comes before its end, unless a grandchild holds the pipes open.
            _ = readers.wait(timeout: .now() + 1)
            state.withLock { $0.reap() }()
        }
    }

    deinit {
        self.signal(SIGKILL)
    }

    /// Sends a signal; nothing, once the child has ended.
    package func signal(_ signal: Int32) {
        // Under the lock that reaps, so the number still belongs to the child.
        self.state.withLock { state in
            if state.exit == nil { kill(state.pid, signal) }
        }
    }

    /// How it ended; nil while it runs.
    package var exit: Exit? { self.state.withLock { $0.exit } }

    /// Everything written so far.
    package var lines: [Line] { self.state.withLock { $0.lines } }

    /// What was written so far, as text.
    package func text(_ stream: Stream) -> String {
        self.lines.filter { $0.stream == stream }.map { $0.text + "\n" }.joined()
    }

    /// The first line, of those written already and those to come, with `text` in it.
    ///
    /// - Throws: `NotInTime`, with the last lines, also if the child ends without having written it.
    @discardableResult
    package func waitForLine(
        containing text: String, after position: Int = 0, within limit: Duration = .seconds(90)
    ) async throws -> String {
        try await self.wait(within: limit, for: "a line containing \"\(text)\"") { state in
            state.lines.dropFirst(position).first { $0.text.contains(text) }?.text
        }
    }

    /// - Throws: `NotInTime`.
    @discardableResult
    package func waitForExit(within limit: Duration = .seconds(90)) async throws -> Exit {
        try await self.wait(within: limit, for: "the end") { $0.exit }
    }

    /// Runs a program to its end; its standard output.
    ///
    /// - Throws: `NotInTime`, also if it fails.
    @discardableResult
    package static func run(
        _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        within limit: Duration = .seconds(60)
    ) async throws -> String {
        let child = try ChildProcess(path, arguments: arguments, environment: environment)
        let exit = try await child.waitForExit(within: limit)
        guard exit == .code(0) else {
            throw NotInTime("\(path) \(arguments.joined(separator: " ")): \(exit)\n\(child.text(.error))")
        }
        return child.text(.output)
    }

    // MARK: -

    private struct Waiter {
        let isDone: @Sendable (State) -> (@Sendable () -> Void)?
        let fail: @Sendable (State) -> Void
    }

    private struct State {
        let pid: pid_t
        let forget: @Sendable () -> Void
        var lines: [Line] = []
        var exit: Exit?
        var nextWaiter = 0
        var waiters: [Int: Waiter] = [:]

        /// Both return what to do once the lock is free.
        mutating func add(_ line: Line) -> () -> Void {
            self.lines.append(line)
            return self.wake()
        }

        mutating func reap() -> () -> Void {
            var status: Int32 = 0
            waitpid(self.pid, &status, 0)
            let signal = status & 0x7F
            self.exit = signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
            self.forget()
            return self.wake()
        }

        /// Also the waiter's number, if it has to wait.
        mutating func add(_ waiter: Waiter) -> (action: () -> Void, number: Int?) {
            if let action = waiter.isDone(self) { return (action, nil) }
            let state = self
            if self.exit != nil { return ({ waiter.fail(state) }, nil) }
            self.nextWaiter += 1
            self.waiters[self.nextWaiter] = waiter
            return ({}, self.nextWaiter)
        }

        private mutating func wake() -> () -> Void {
            var actions: [() -> Void] = []
            let state = self
            for (number, waiter) in self.waiters {
                if let action = waiter.isDone(state) {
                    actions.append(action)
                } else if self.exit != nil {
                    actions.append { waiter.fail(state) }
                } else {
                    continue
                }
                self.waiters[number] = nil
            }
            return { for action in actions { action() } }
        }
    }

    private func wait<Value: Sendable>(
        within limit: Duration, for what: String, _ find: @escaping @Sendable (State) -> Value?
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let waiter = Waiter(
                isDone: { state in
                    guard let value = find(state) else { return nil }
                    return { continuation.resume(returning: value) }
                },
                fail: { state in
                    let last = state.lines.suffix(20).map(\.text).joined(separator: "\n")
                    let end = state.exit.map { "; it ended with \($0)" } ?? " within \(limit)"
                    continuation.resume(throwing: NotInTime("no \(what)\(end). Last lines:\n\(last)"))
                }
            )
            let (action, number) = self.state.withLock { $0.add(waiter) }
            action()
            guard let number else { return }
            let state = self.state
            let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) {
                let (waiter, snapshot) = state.withLock { ($0.waiters.removeValue(forKey: number), $0) }
                waiter?.fail(snapshot)
            }
        }
    }

    private static func read(_ descriptor: Int32, _ take: (String) -> Void) {
        defer { close(descriptor) }
        var pending: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            // Only what is new is searched: a picture comes as one line of megabytes.
            var searched = pending.count
            pending += buffer[..<count]
            while let end = pending[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                take(String(decoding: pending[..<end], as: UTF8.self))
                pending.removeSubrange(...end)
                searched = 0
            }
        }
        if !pending.isEmpty { take(String(decoding: pending, as: UTF8.self)) }
    }

    /// Waits without reaping: the number stays the child's until `reap`.
    private static func waitForEnd(of pid: pid_t) {
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }
}
