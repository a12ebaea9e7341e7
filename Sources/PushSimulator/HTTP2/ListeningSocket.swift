internal import Glibc

/// A socket that could not be opened, with the system's reason.
package struct ListenError: Error, Equatable, CustomStringConvertible {
    package let port: Int
    package let reason: String

    package var description: String { "cannot listen on 127.0.0.1:\(self.port): \(self.reason)" }
}

/// A TCP port on the loopback address, open until this value's owner lets go of it.
final class ListeningSocket {
    let descriptor: Int32
    /// The port in use; the system's choice where 0 was asked for.
    let port: Int

    /// How many connections may wait to be accepted.
    private static let backlog: Int32 = 512

    init(port: Int) throws(ListenError) {
        func failure() -> ListenError { ListenError(port: port, reason: String(cString: strerror(errno))) }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw failure() }
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, Self.backlog) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard result else {
            let error = failure()
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(self.descriptor) }

    /// The next connection that waits, non-blocking and without Nagle's delay; nil when none does.
    func accept() -> Int32? {
        let socket = Glibc.accept(self.descriptor, nil, nil)
        guard socket >= 0 else { return nil }
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        var noDelay: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
        return socket
    }
}
