private import Glibc

/// The thread of a ``TCPProxy``. Everything here belongs to it alone.
final class ProxyLoop {
    private let target: TCPProxy.Target
    private let port: Int
    private let commands: ProxyCommands
    private let wake: Int32
    private var listener: Int32?
    private var links: [ProxyLink] = []
    private var isBlackhole = false
    /// Whether the far side is kept from hearing that dead connections are gone.
    private var isHushed = false
    private var delay = Duration.zero

    init(target: TCPProxy.Target, port: Int, listener: Int32, wake: Int32, commands: ProxyCommands) {
        self.target = target
        self.port = port
        self.listener = listener
        self.wake = wake
        self.commands = commands
    }

    func run() {
        var isRunning = true
        while isRunning {
            let ready = self.poll()
            let asked = self.commands.take()
            for command in asked where isRunning { isRunning = self.carryOut(command) }
            if isRunning {
                if let listener, ready.contains(listener) { self.accept(listener) }
                for link in self.links { link.move(ready: ready, delay: self.delay) }
                // As by its keep-alive, the far side learns in the end what is gone.
                if !self.isHushed {
                    for link in self.links where link.isDead && !link.isOpenForClient { link.reset() }
                }
                self.links.removeAll(where: \.isOver)
            }
            self.commands.finished(asked.count, openConnections: self.links.count { $0.isOpenForClient })
        }
        for link in self.links { link.reset() }
        if let listener { close(listener) }
        close(self.wake)
        self.commands.ended()
    }

    /// Waits for something to do; the descriptors it is to be done with.
    private func poll() -> Set<Int32> {
        var descriptors = [pollfd(fd: self.wake, events: Int16(POLLIN), revents: 0)]
        if let listener { descriptors.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0)) }
        for link in self.links {
            for (descriptor, events) in link.interests where events != 0 {
                descriptors.append(pollfd(fd: descriptor, events: events, revents: 0))
            }
        }
        let due = self.links.compactMap(\.due).min().map { max(.zero, ContinuousClock.now.duration(to: $0)) }
        // Rounded up, so that it is due when we look.
        let timeout = due.map { Int32(clamping: $0.components.attoseconds / 1_000_000_000_000_000 + 1) }
        let seconds = due.map { Int32(clamping: $0.components.seconds) } ?? 0
        let count = Glibc.poll(&descriptors, nfds_t(descriptors.count), timeout.map { seconds &* 1000 &+ $0 } ?? -1)
        guard count > 0 else { return [] }
        var byte = [UInt8](repeating: 0, count: 256)
        if descriptors[0].revents != 0 { _ = read(self.wake, &byte, byte.count) }
        return Set(descriptors.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    private func carryOut(_ command: ProxyCommands.Command) -> Bool {
        switch command {
        case .cut:
            for link in self.links { link.reset() }
            self.links = []
        case .blackhole:
            self.isBlackhole = true
            self.isHushed = true
            for link in self.links { link.isDead = true }
        case .forget:
            self.isHushed = true
            for link in self.links { link.isDead = true }
        case .delay(let time):
            self.delay = time
        case .refuse:
            if let listener { close(listener) }
            self.listener = nil
        case .restore:
            self.isBlackhole = false
            self.isHushed = false
            self.delay = .zero
            if self.listener == nil { self.listener = try? ProxySocket.listen(port: self.port).descriptor }
        case .stop:
            return false
        }
        return true
    }

    private func accept(_ listener: Int32) {
        while let client = ProxySocket.accept(listener) {
            let server = self.isBlackhole ? nil : ProxySocket.connect(to: self.target)
            let link = ProxyLink(client: client, server: server)
            link.isDead = self.isBlackhole
            if server == nil && !self.isBlackhole {
                link.reset()
            } else {
                self.links.append(link)
            }
        }
    }
}

/// A client, its server, and what is on the way between them.
final class ProxyLink {
    private struct Way {
        var pending: [(due: ContinuousClock.Instant, bytes: ArraySlice<UInt8>)] = []
        var size = 0
        var sourceEnded = false
        var endPassedOn = false
    }

    private var client: Int32?
    private var server: Int32?
    private var up = Way()
    private var down = Way()
    /// Swallows everything for good.
    var isDead = false

    /// Beyond this the sender has to wait.
    private static let mostPending = 1 << 20

    init(client: Int32, server: Int32?) {
        self.client = client
        self.server = server
    }

    var isOpenForClient: Bool { self.client != nil }
    var isOver: Bool { self.client == nil && self.server == nil }

    /// When what is delayed can be passed on.
    var due: ContinuousClock.Instant? {
        guard !self.isDead else { return nil }
        let now = ContinuousClock.now
        // What is due already waits for its receiver.
        return [self.up.pending.first?.due, self.down.pending.first?.due].compactMap { $0 }.filter { $0 > now }.min()
    }

    /// What to wait for, for each descriptor.
    var interests: [(descriptor: Int32, events: Int16)] {
        var interests: [(Int32, Int16)] = []
        let now = ContinuousClock.now
        func events(_ reading: Way, _ writing: Way) -> Int16 {
            let mayRead = !reading.sourceEnded && (self.isDead || reading.size < Self.mostPending)
            let mayWrite = !self.isDead && writing.pending.first.map { $0.due <= now } ?? false
            return (mayRead ? Int16(POLLIN) : 0) | (mayWrite ? Int16(POLLOUT) : 0)
        }
        if let client { interests.append((client, events(self.up, self.down))) }
        if let server { interests.append((server, events(self.down, self.up))) }
        return interests
    }

    func reset() {
        if let client { ProxySocket.reset(client) }
        if let server { ProxySocket.reset(server) }
        self.client = nil
        self.server = nil
    }

    /// Reads what has come and passes on what is due.
    func move(ready: Set<Int32>, delay: Duration) {
        if self.isDead {
            self.swallow(ready)
            return
        }
        if let client, ready.contains(client), !self.read(client, into: &self.up, delay) { return self.reset() }
        if let server, ready.contains(server), !self.read(server, into: &self.down, delay) { return self.reset() }
        if let server, !self.write(&self.up, to: server) { return self.reset() }
        if let client, !self.write(&self.down, to: client) { return self.reset() }
        if self.up.endPassedOn && self.down.endPassedOn {
            if let client { close(client) }
            if let server { close(server) }
            self.client = nil
            self.server = nil
        }
    }

    private func swallow(_ ready: Set<Int32>) {
        if let client, ready.contains(client), !self.swallow(from: client) {
            close(client)
            self.client = nil
        }
        if let server, ready.contains(server), !self.swallow(from: server) {
            close(server)
            self.server = nil
        }
    }

    /// False at the end of what comes.
    private func swallow(from descriptor: Int32) -> Bool {
        var way = Way()
        return self.read(descriptor, into: &way, .zero) && !way.sourceEnded
    }

    /// False when the connection is broken.
    private func read(_ descriptor: Int32, into way: inout Way, _ delay: Duration) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !way.sourceEnded, way.size < Self.mostPending {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if count == 0 {
                way.sourceEnded = true
            } else {
                way.pending.append((ContinuousClock.now + delay, buffer[..<count]))
                way.size += count
            }
        }
        return true
    }

    /// False when the connection is broken.
    private func write(_ way: inout Way, to descriptor: Int32) -> Bool {
        while let first = way.pending.first, first.due <= .now {
            let count = first.bytes.withUnsafeBytes { bytes in
                send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            // ENOTCONN: the connection to the server is still under way.
            if count < 0 { return errno == EAGAIN || errno == EINTR || errno == ENOTCONN }
            way.size -= count
            if count == first.bytes.count {
                way.pending.removeFirst()
            } else {
                way.pending[0].bytes = first.bytes.dropFirst(count)
            }
        }
        if way.sourceEnded, !way.endPassedOn, way.pending.isEmpty {
            shutdown(descriptor, Int32(SHUT_WR))
            way.endPassedOn = true
        }
        return true
    }
}
