internal import Glibc

/// The sockets of a ``TCPProxy``: non-blocking, and gone with a reset where that is asked for.
enum ProxySocket {
    static func makeNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// - Parameter port: 0 for any that is free.
    static func listen(port: Int) throws(TCPProxy.CannotStart) -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TCPProxy.CannotStart(reason: String(cString: strerror(errno))) }
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = Self.loopback(port: port)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // The socket calls take the general address type for every family.
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && Glibc.listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isListening else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw TCPProxy.CannotStart(reason: reason)
        }
        self.makeNonBlocking(descriptor)
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    static func accept(_ listener: Int32) -> Int32? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        self.makeNonBlocking(descriptor)
        self.sendAtOnce(descriptor)
        return descriptor
    }

    /// A connection that may still be under way; nil when it is refused at once.
    static func connect(to target: TCPProxy.Target) -> Int32? {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        switch target {
        case .port(let port):
            let descriptor = socket(AF_INET, kind, 0)
            guard descriptor >= 0 else { return nil }
            self.sendAtOnce(descriptor)
            var address = Self.loopback(port: port)
            return self.connect(descriptor, &address)
        case .socket(let path):
            let descriptor = socket(AF_UNIX, kind, 0)
            guard descriptor >= 0 else { return nil }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { space in
                // The last byte stays 0.
                for (index, byte) in path.utf8.prefix(space.count - 1).enumerated() { space[index] = byte }
            }
            return self.connect(descriptor, &address)
        }
    }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32? {
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Glibc.connect(descriptor, address, socklen_t(MemoryLayout<Address>.size))
            }
        }
        if result == 0 || errno == EINPROGRESS { return descriptor }
        close(descriptor)
        return nil
    }

    /// Closes with a reset (on TCP) and without waiting.
    static func reset(_ descriptor: Int32) {
        var none = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    private static func sendAtOnce(_ descriptor: Int32) {
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
