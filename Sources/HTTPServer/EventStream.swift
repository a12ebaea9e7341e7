internal import CMicroHTTPD
private import Locking

/// Server-sent events on their way to one client.
///
/// The buffer is bounded: a client that reads too slowly is cut off rather than waited for.
package final class EventStream: Sendable {
    private struct State {
        var buffer: [UInt8] = []
        /// Bytes at the head of `buffer` that were handed over.
        var sent = 0
        var isOpen = true
        var overflowed = false
        /// The connection, while it waits for us to have something to say.
        var waiting: Suspended?
        var lastWrite = ContinuousClock.now

        mutating func resume() {
            self.waiting?.resume()
            self.waiting = nil
        }
    }

    private let state = Locked(State())
    private let limit: Int

    /// - Parameter limit: the most bytes that may wait for the client to read them.
    package init(limit: Int = 256 * 1024) {
        self.limit = limit
    }

    /// Whether anyone may still be reading.
    package var isOpen: Bool { self.state.withLock { $0.isOpen } }

    /// Whether it was closed because its reader was too slow.
    package var overflowed: Bool { self.state.withLock { $0.overflowed } }

    /// Sends an event; nothing once the stream is closed. Line breaks in `data` arrive as line feeds.
    package func send(event: String, data: String) {
        var text = "event: \(event.filter { !$0.isNewline })\n"
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            text += "data: \(line)\n"
        }
        self.append(text + "\n")
    }

    /// Ends the answer after what was sent so far.
    package func close() {
        self.state.withLock { state in
            state.isOpen = false
            state.resume()
        }
    }

    private func append(_ text: String) {
        self.state.withLock { state in
            guard state.isOpen else { return }
            if state.buffer.count - state.sent + text.utf8.count > self.limit {
                state.isOpen = false
                state.overflowed = true
                state.buffer = []
                state.sent = 0
            } else {
                state.buffer.append(contentsOf: text.utf8)
                state.lastWrite = .now
            }
            state.resume()
        }
    }

    // MARK: - The server's side

    /// Sends a comment when nothing was sent for `interval`: proxies cut silent connections, and a write finds out
    /// whether the client is still there.
    func keepAlive(every interval: Duration) {
        let isDue = self.state.withLock { $0.isOpen && $0.buffer.isEmpty && .now - $0.lastWrite >= interval }
        if isDue { self.append(":\n\n") }
    }

    enum Portion {
        case bytes(Int)
        case nothingYet
        case end
    }

    /// Moves what waits into the library's buffer; called on its thread. With nothing to say the connection is suspended,
    /// under the lock that ``send(event:data:)`` takes, so that no resumption is missed.
    func take(into target: UnsafeMutableRawBufferPointer, suspending connection: OpaquePointer) -> Portion {
        self.state.withLock { state in
            let waiting = state.buffer.count - state.sent
            guard waiting > 0 else {
                guard state.isOpen else { return .end }
                MHD_suspend_connection(connection)
                state.waiting = Suspended(connection: connection)
                return .nothingYet
            }
            let count = min(waiting, target.count)
            target.copyBytes(from: state.buffer[state.sent..<state.sent + count])
            state.sent += count
            if state.sent == state.buffer.count {
                state.buffer.removeAll(keepingCapacity: true)
                state.sent = 0
            }
            return .bytes(count)
        }
    }
}

/// A suspended connection. The library neither touches nor frees it until it is resumed, which is done once.
struct Suspended: @unchecked Sendable {
    // Sendable: MHD_resume_connection may be called on any thread, and nothing else is done with the pointer.
    let connection: OpaquePointer

    func resume() { MHD_resume_connection(self.connection) }
}
