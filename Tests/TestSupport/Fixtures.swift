package import FoundationEssentials

/// Files under `Tests/Fixtures`.
package enum Fixtures {
    package static func url(_ name: String, from file: String = #filePath) -> URL {
        // #filePath of a default argument is the caller's; `Tests` is one of the folders above every test.
        var folder = URL(filePath: file).deletingLastPathComponent()
        while folder.lastPathComponent != "Tests", folder.path.count > 1 { folder.deleteLastPathComponent() }
        return folder.appending(path: "Fixtures").appending(path: name)
    }
}

/// The package's executables, which `swift build` puts beside the test bundle.
package enum BuiltProducts {
    package struct Missing: Error, CustomStringConvertible {
        let path: String
        package var description: String { "\(self.path) is not there; build it first: swift build" }
    }

    package static func url(_ name: String) throws -> URL {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let url = URL(filePath: bundle).deletingLastPathComponent().appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: url.path) else { throw Missing(path: url.path) }
        return url
    }
}
