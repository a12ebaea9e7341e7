internal import Cryptography
internal import Glibc

/// The files a worker needs to talk to a simulator, and the environment variables that lead to them.
package struct SimulatorDirectory: Sendable {
    /// Absolute, so that the variables hold wherever they are read.
    package let path: String

    /// - Parameter path: relative to the working directory, or absolute.
    package init(path: String) {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else {
            self.path = path
            return
        }
        defer { free(current) }
        self.path = String(cString: current) + "/" + path
    }

    /// The variables of `design.md`, section 7, in a fixed order; `PUSH_SIMULATOR_URL` is the control port.
    package func environment(
        credentials: SimulatorCredentials, addresses: SimulatorAddresses
    ) -> [(name: String, value: String)] {
        let key = credentials.apnsKeys.first
        return [
            ("APNS_KEY_FILE", "\(self.path)/apns.p8"), ("APNS_KEY_ID", key?.keyID ?? ""),
            ("APNS_TEAM_ID", key?.teamID ?? ""), ("APNS_TOPIC", key?.topics.min() ?? ""),
            ("APNS_URL", addresses.apnsProduction), ("APNS_DEVELOPMENT_URL", addresses.apnsDevelopment),
            ("FCM_URL", addresses.fcm), ("GOOGLE_APPLICATION_CREDENTIALS", "\(self.path)/service-account.json"),
            ("PUSH_CA_FILE", "\(self.path)/ca.pem"), ("PUSH_SIMULATOR_URL", addresses.control),
        ]
    }

    /// Writes `apns.p8`, `service-account.json`, `ca.pem` and `environment`, which a shell can source; makes the
    /// directory if it is not there. Files are for their owner alone.
    ///
    /// - Throws: ``FileError``, or `KeyError` from OpenSSL.
    package func write(
        credentials: SimulatorCredentials, addresses: SimulatorAddresses, authorityPEM: String
    ) throws {
        if mkdir(self.path, 0o700) != 0, errno != EEXIST { throw FileError(path: self.path) }
        let variables = self.environment(credentials: credentials, addresses: addresses)
            .map { "export \($0.name)='\($0.value.split(separator: "'").joined(separator: "'\\''"))'\n" }
        try self.write("apns.p8", try credentials.apnsPrivateKey.pem)
        try self.write("service-account.json", try credentials.serviceAccountJSON(tokenURI: addresses.tokenURI))
        try self.write("ca.pem", authorityPEM)
        try self.write("environment", variables.joined())
    }

    /// A file that could not be written, with the system's reason.
    package struct FileError: Error, Equatable, CustomStringConvertible {
        package let path: String
        package let reason: String

        init(path: String) {
            self.path = path
            self.reason = String(cString: strerror(errno))
        }

        package var description: String { "cannot write \(self.path): \(self.reason)" }
    }

    /// Under another name first, so that nobody reads half a file.
    private func write(_ name: String, _ text: String) throws(FileError) {
        let path = "\(self.path)/\(name)", temporary = path + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError(path: path) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let error = FileError(path: path)
                close(file)
                throw error
            }
            bytes = bytes.dropFirst(count)
        }
        close(file)
        guard rename(temporary, path) == 0 else { throw FileError(path: path) }
    }
}
