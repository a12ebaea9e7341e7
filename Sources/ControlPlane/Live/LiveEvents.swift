import Dashboard
import HTTPServer
import Locking
import Observability
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Live values for every open page, from one poller.
///
/// However many tabs there are, the queue is read once a second, for all of them; while there are none it is not read at
/// all. A tab is told what changed on it and nothing else.
final class LiveEvents: Sendable {
    /// What the parts of one page are drawn from.
    struct Wish: Equatable {
        var overview = false
        var rows: [UUID] = []
        var delivery: UUID?
        var bulk: UUID?

        /// Rows of one page; a page has fifty.
        static let mostRows = 200

        /// Reads `overview=1`, `rows=ID,ID…`, `delivery=ID`, `bulk=ID`; nil where nothing is wished for.
        init?(_ query: [RequestHead.Item]) {
            for item in query {
                switch item.name {
                case "overview": self.overview = item.value == "1"
                case "rows":
                    self.rows = item.value.split(separator: ",").prefix(Self.mostRows).compactMap {
                        UUID(uuidString: String($0))
                    }
                case "delivery": self.delivery = UUID(uuidString: item.value)
                case "bulk": self.bulk = UUID(uuidString: item.value)
                default: break
                }
            }
            guard self.overview || !self.rows.isEmpty || self.delivery != nil || self.bulk != nil else { return nil }
        }
    }

    private struct Tab {
        let stream: EventStream
        let wish: Wish
        let openedAt: ContinuousClock.Instant
        /// Who looks, nil once the session is over.
        let caller: @Sendable () -> Caller?
        /// What was sent last, by element.
        var sent: [String: HTML] = [:]
    }

    private struct State {
        var tabs: [Int: Tab] = [:]
        var lastID = 0
        var poller: Task<Void, Never>?
        var isStopping = false
    }

    private let state = Locked(State())
    private let values: LiveValues
    private let log: Log

    static let mostTabs = 200
    private static let interval = Duration.seconds(1)
    /// The script asks anew after half an hour.
    private static let longest = Duration.seconds(35 * 60)

    init(queue: QueueAccess, log: Log) {
        self.values = LiveValues(queue: queue)
        self.log = log
    }

    /// - Parameter identify: who a head is from; asked again each round.
    func open(
        _ head: RequestHead, _ caller: Caller, identify: @escaping @Sendable (RequestHead) -> Access.Verdict
    ) -> Response {
        guard let wish = Wish(head.query) else { return Answers.error(400, "nothing is asked for") }
        let stream = EventStream()
        let tab = Tab(
            stream: stream, wish: wish, openedAt: .now,
            caller: {
                guard case .caller(let caller) = identify(head) else { return nil }
                return caller
            })
        let isTaken = self.state.withLock { state in
            state.tabs = state.tabs.filter { $0.value.stream.isOpen }
            guard !state.isStopping, state.tabs.count < Self.mostTabs else { return false }
            state.lastID += 1
            state.tabs[state.lastID] = tab
            // One for all tabs, and not a child of the first one's request: it ends with the last tab.
            if state.poller == nil { state.poller = Task { await self.poll() } }
            return true
        }
        guard isTaken else {
            return Answers.error(503, "too many pages are open", headers: [.init("Retry-After", "30")])
        }
        return Response(events: stream)
    }

    /// Ends every stream.
    func stop() async {
        let (tabs, poller) = self.state.withLock { state in
            state.isStopping = true
            return (state.tabs.values, state.poller)
        }
        for tab in tabs { tab.stream.close() }
        poller?.cancel()
        await poller?.value
    }

    // MARK: - The poller

    private func poll() async {
        while let tabs = self.openTabs() {
            let next = ContinuousClock.now + Self.interval
            var callers: [Int: Caller] = [:]
            for (id, tab) in tabs {
                callers[id] = tab.caller()
                // Signed out meanwhile.
                if callers[id] == nil { tab.stream.close() }
            }
            do {
                let values = try await self.values.read(for: callers.keys.compactMap { tabs[$0]?.wish })
                for (id, caller) in callers {
                    if let tab = tabs[id] { self.tell(tab, id, caller, values) }
                }
            } catch {
                // The page keeps what it shows; the next round asks again.
                self.log.debug("live values could not be read", ["error": "\(error)"])
            }
            try? await Task.sleep(until: next, clock: .continuous)
        }
    }

    /// Nil when there are none, and the poller is to end.
    private func openTabs() -> [Int: Tab]? {
        self.state.withLock { state in
            for (id, tab) in state.tabs {
                if !tab.stream.isOpen {
                    state.tabs[id] = nil
                } else if .now - tab.openedAt > Self.longest {
                    tab.stream.close()
                    state.tabs[id] = nil
                }
            }
            guard !state.tabs.isEmpty, !state.isStopping else {
                state.poller = nil
                return nil
            }
            return state.tabs
        }
    }

    private func tell(_ tab: Tab, _ id: Int, _ caller: Caller, _ values: LiveValues.Round) {
        let context = PageContext(role: caller.role, csrfToken: caller.csrfToken, now: values.readAt)
        let parts = values.parts(for: tab.wish, context)
        let changed = parts.filter { tab.sent[$0.id] != $0.content }
        guard !changed.isEmpty else { return }
        let patch = JSONNode.object(changed.map { ($0.id, .text($0.content.text)) })
        tab.stream.send(event: "patch", data: patch.description)
        self.state.withLock { state in
            for part in changed { state.tabs[id]?.sent[part.id] = part.content }
        }
    }
}
