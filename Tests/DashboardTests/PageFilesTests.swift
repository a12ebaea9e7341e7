import FoundationEssentials
import Testing

@testable import Dashboard

/// Writes the pages to look at: `DASHBOARD_PAGES=/tmp/pages swift test --filter PageFilesTests`.
struct PageFilesTests {
    static let folder = ProcessInfo.processInfo.environment["DASHBOARD_PAGES"]

    @Test(.enabled(if: folder != nil)) func `write every page to a folder`() throws {
        let folder = try #require(Self.folder)
        try FileManager.default.createDirectory(atPath: folder + "/assets", withIntermediateDirectories: true)
        for asset in Assets.all {
            try Data(asset.bytes).write(to: URL(filePath: "\(folder)/assets/\(asset.name)"))
        }
        for page in try SamplePage.all() {
            let text = page.html.text.replacing("\"/assets/", with: "\"assets/")
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(page.name).html"))
        }
    }
}
