private import Glibc

/// Ports for a server that goes and comes back at the same address.
///
/// A port of the system's choice can be given to somebody else in between, an outgoing connection even. These lie below
/// the range it chooses from.
package enum FixedPorts {
    private static let range: Range<Int> = 12_000..<30_000

    /// Free when asked; drawn at random, so that tests side by side draw others.
    package static func draw(_ count: Int) throws -> [Int] {
        var ports: Set<Int> = []
        for _ in 0..<10_000 where ports.count < count {
            let port = Int.random(in: Self.range)
            if Self.isFree(port) { ports.insert(port) }
        }
        guard ports.count == count else { throw NotInTime("no \(count) free ports in \(Self.range)") }
        return Array(ports)
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
