/// What the pages load: files inside the program, told apart by the hash of their bytes.
package enum Assets {
    package struct Asset: Sendable {
        package let name: String
        package let contentType: String
        package let bytes: [UInt8]
        /// In quotes, as the header wants it.
        package let etag: String

        /// The hash alone, for the address: whoever changes a file changes its address, so it may be kept for ever.
        package let version: String

        init(_ name: String, _ contentType: String, _ bytes: [UInt8]) {
            self.name = name
            self.contentType = contentType
            self.bytes = bytes
            self.version = Assets.hash(bytes)
            self.etag = "\"\(self.version)\""
        }

        var route: Route { .asset(self.name, version: self.version) }
    }

    package static let styleSheet = Asset(
        "dashboard.css", "text/css; charset=utf-8", PackageResources.dashboard_css)
    package static let script = Asset(
        "dashboard.js", "text/javascript; charset=utf-8", PackageResources.dashboard_js)
    package static let icon = Asset("favicon.svg", "image/svg+xml", PackageResources.favicon_svg)

    package static let all = [styleSheet, script, icon]

    /// The asset behind `/assets/NAME`; nil for any other name.
    package static func asset(named name: String) -> Asset? {
        self.all.first { $0.name == name }
    }

    /// FNV-1a, 64 bits: tells versions apart, guards against nothing.
    private static func hash(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
