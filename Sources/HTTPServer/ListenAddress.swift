internal import CMicroHTTPD
internal import Glibc

/// A numeric address and a port to listen on.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// `127.0.0.1`, `::1`, `0.0.0.0` …
    package let host: String
    /// 0 has the system choose one.
    package let port: UInt16
    package let isLoopback: Bool
    let isIPv6: Bool

    /// `127.0.0.1:8470`, `[::1]:8470`, `localhost:8470` (which is 127.0.0.1); nil for anything else, other names among
    /// them: what a name leads to may change.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let portText = text[text.index(after: colon)...]
        guard portText.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(portText) else { return nil }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            var address = in6_addr()
            guard inet_pton(AF_INET6, host, &address) == 1 else { return nil }
            self.isIPv6 = true
            let bytes = withUnsafeBytes(of: &address) { Array($0) }
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            self.isLoopback =
                bytes == [UInt8](repeating: 0, count: 15) + [1] || (isMapped && bytes[12] == 127)
        } else {
            var address = in_addr()
            guard inet_pton(AF_INET, host, &address) == 1 else { return nil }
            self.isIPv6 = false
            self.isLoopback = UInt32(bigEndian: address.s_addr) >> 24 == 127
        }
        self.host = host
        self.port = port
    }

    package var description: String { self.text(port: self.port) }

    func text(port: UInt16) -> String { self.isIPv6 ? "[\(self.host)]:\(port)" : "\(self.host):\(port)" }

    /// The numeric address of a peer, without its port.
    static func text(of address: UnsafePointer<sockaddr>?) -> String {
        guard let address else { return "unknown" }
        let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
        let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(address, socklen_t(length), &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST) == 0
        else { return "unknown" }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.hasPrefix("::ffff:") ? String(text.dropFirst("::ffff:".count)) : text
    }
}

/// Why a server could not start; names the address.
package struct ListenError: Error, CustomStringConvertible {
    package let description: String
}

extension ListenAddress {
    /// Opens a socket that listens.
    func listen(backlog: Int32) throws(ListenError) -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(
            self.isIPv6 ? AF_INET6 : AF_INET,
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw self.failure(errno) }
        // A port whose last connections are still dying is ours again at once; one somebody listens on stays theirs.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard self.bind(descriptor) == 0, Glibc.listen(descriptor, backlog) == 0 else {
            let fault = self.failure(errno)
            close(descriptor)
            throw fault
        }
        return (descriptor, Self.port(of: descriptor))
    }

    private func bind(_ descriptor: Int32) -> Int32 {
        if self.isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = self.port.bigEndian
            inet_pton(AF_INET6, self.host, &address.sin6_addr)
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = self.port.bigEndian
        inet_pton(AF_INET, self.host, &address.sin_addr)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        // The port stands at the same place for both families.
        return status == 0 ? UInt16(bigEndian: address.sin6_port) : 0
    }

    private func failure(_ number: Int32) -> ListenError {
        let reason =
            number == EADDRINUSE ? "another program listens there" : String(cString: strerror(number)).lowercased()
        return ListenError(description: "cannot listen on \(self): \(reason)")
    }
}
