private import Glibc
internal import HTTPTransport

/// A folder with a throw-away authority, a certificate of it for `localhost`, and another authority.
struct TestCertificates {
    static let shared = Result { try TestCertificates() }

    let folder: String
    var authority: String { "\(self.folder)/authority.pem" }
    var otherAuthority: String { "\(self.folder)/other.pem" }
    var certificate: String { "\(self.folder)/server.pem" }
    var key: String { "\(self.folder)/server.key" }

    private init() throws {
        var template = Array("/tmp/http-transport-tests.XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw ChildProcess.Failure(description: "mkdtemp") }
        self.folder = String(cString: path)
        let create = """
            set -e; cd '\(self.folder)'
            new() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" "${@:2}"; }
            new test -x509 -days 2 -keyout authority.key -out authority.pem
            new other -x509 -days 2 -keyout other.key -out other.pem
            new localhost -keyout server.key -out server.csr
            openssl x509 -req -days 2 -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial \
                -extfile <(echo subjectAltName=DNS:localhost) -out server.pem
            """
        guard try ChildProcess(["bash", "-c", create]).waitForExit() == 0 else {
            throw ChildProcess.Failure(description: "openssl made no certificates")
        }
        atexit(removeCertificates)
    }
}

private func removeCertificates() {
    guard let folder = try? TestCertificates.shared.get().folder else { return }
    for name in ["authority", "other", "server"] {
        for suffix in ["key", "pem", "csr", "srl"] { unlink("\(folder)/\(name).\(suffix)") }
    }
    rmdir(folder)
}

/// The scripted server of `Tests/Fixtures/http2_faults.py`.
struct FaultServer {
    let process: ChildProcess
    let port: Int

    init(_ scenario: String) throws {
        let certificates = try TestCertificates.shared.get()
        let script = #filePath.split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/Fixtures/http2_faults.py"
        self.process = try ChildProcess(["python3", script, certificates.certificate, certificates.key, scenario])
        let line = try self.process.line("its port") { $0.hasPrefix("port ") }
        self.port = Int(line.dropFirst(5)) ?? 0
    }

    var url: String { "https://localhost:\(self.port)/3/device/x" }

    /// Ends the server and counts the lines that begin so.
    func count(_ prefix: String) throws -> Int {
        try self.process.finish()
        return self.process.lines.count { $0.hasPrefix(prefix) }
    }
}

/// nghttp2's own server: it answers 200 to every path that is a file.
struct NGHTTPServer {
    private let process: ChildProcess
    let port: Int

    init() throws {
        let certificates = try TestCertificates.shared.get()
        self.port = try freePort()
        // `stdbuf`-less: its first line comes once it listens, and the pipe is not read for more.
        self.process = try ChildProcess([
            "nghttpd", "-n", "1", "-a", "127.0.0.1", "-d", certificates.folder, "-m", "100", "\(self.port)",
            certificates.key, certificates.certificate,
        ])
        try waitForListener(self.port)
    }

    var url: String { "https://localhost:\(self.port)/server.csr" }
}

/// Takes connections and never reads from them.
final class SilentListener {
    private let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let port: Int

    init() throws {
        self.port = try bindToLoopback(self.descriptor)
        listen(self.descriptor, 10)
    }

    deinit { close(self.descriptor) }
}

/// A port nobody listens on now.
func freePort() throws -> Int {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return try bindToLoopback(descriptor)
}

private func bindToLoopback(_ descriptor: CInt) throws -> Int {
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
        }
    }
    guard code == 0 else { throw ChildProcess.Failure(description: "no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
}

private func waitForListener(_ port: Int) throws {
    for _ in 0..<500 {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: port)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if code == 0 { return }
        usleep(20_000)
    }
    throw ChildProcess.Failure(description: "nobody listens on port \(port)")
}

private func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}
