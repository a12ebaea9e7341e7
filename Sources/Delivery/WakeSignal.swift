/// "Look again": any number of calls before the next look are one.
package struct WakeSignal: Sendable {
    package let wakes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (self.wakes, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func wake() {
        self.continuation.yield()
    }

    /// Ends `wakes` after what was signalled.
    package func finish() {
        self.continuation.finish()
    }
}
