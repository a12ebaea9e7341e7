private import Dispatch
private import Glibc

/// SIGTERM and SIGINT as something to wait for.
///
/// Not with `sigwait`: an async `main` leaves the first thread in Dispatch's hands, which lets every signal through there.
struct TerminationSignals {
    private let arrivals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        self.arrivals = arrivals
        self.sources = [SIGTERM, SIGINT].map { number in
            // The default action would end the process before Dispatch hears of the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns at the first of the two.
    func wait() async {
        for await _ in self.arrivals { break }
        self.sources.forEach { $0.cancel() }
    }
}
