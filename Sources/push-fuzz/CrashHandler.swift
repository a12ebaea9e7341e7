import Fuzzing
import Glibc

/// Says which input ended the process.
///
/// A trap of Swift, an access to foreign memory or a stack that is full is a signal on the thread that did it. A handler
/// may not allocate, so it cannot print an input. It starts this program anew, in place of itself, to show the input of
/// that parser, seed and number: `execv` is allowed (signal-safety(7)).
enum CrashHandler {
    /// Made before the first input, then only read, and never freed: all that the handler may do with it.
    fileprivate final class Context {
        let workers: [WorkerProgress]
        /// For each parser the arguments of the program that shows an input.
        let arguments: [UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>]
        let path = strdup("/proc/self/exe")
        /// One of the arguments; the handler writes it.
        let number = UnsafeMutablePointer<CChar>.allocate(capacity: 24)

        init(workers: [WorkerProgress], parsers: [String], seed: UInt64) {
            self.workers = workers
            self.number.initialize(repeating: 0, count: 24)
            let number = self.number
            self.arguments = parsers.map { parser in
                let words = [
                    strdup("push-fuzz"), strdup("--parser"), strdup(parser), strdup("--crashed"), number, strdup("1"),
                    strdup(String(seed)), nil,
                ]
                let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count)
                list.initialize(from: words, count: words.count)
                return list
            }
        }
    }

    static func install(workers: [WorkerProgress], parsers: [String], seed: UInt64) {
        crashContext = Context(workers: workers, parsers: parsers, seed: seed)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = showInputOfThisThread
        // Once: what happens in the handler, or where no input is at fault, ends the process as ever.
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_ONSTACK | SA_NODEFER
        for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT] { sigaction(signal, &action, nil) }
    }

    /// Gives this thread a second stack for the handler: the first one may be what is full. It stays until the end.
    static func useOwnStack() {
        let size = 64 * 1024
        var stack = stack_t(ss_sp: .allocate(byteCount: size, alignment: 16), ss_flags: 0, ss_size: size)
        sigaltstack(&stack, nil)
    }
}

/// Written once before the workers start.
nonisolated(unsafe) private var crashContext: CrashHandler.Context?

/// The handler: a free function, as C wants it.
private func showInputOfThisThread(_ signal: Int32) {
    guard let context = crashContext else { return }
    for worker in context.workers where worker.isOfThisThread {
        guard let place = worker.place else { return }
        var digits = 1
        var rest = place.number
        while rest > 9 {
            rest /= 10
            digits += 1
        }
        rest = place.number
        for position in (0..<digits).reversed() {
            context.number[position] = CChar(48 + rest % 10)
            rest /= 10
        }
        context.number[digits] = 0
        if let path = context.path { execv(path, context.arguments[place.target]) }
    }
}
