import Testing

@testable import Dashboard

struct AssetTests {
    @Test(arguments: ["dashboard.css", "dashboard.js", "favicon.svg"])
    func `an asset is found by its name`(name: String) throws {
        let asset = try #require(Assets.asset(named: name))
        #expect(!asset.bytes.isEmpty)
        #expect(asset.etag == "\"\(asset.version)\"")
        #expect(asset.version.count == 16)
        #expect(asset.route.address == "/assets/\(name)?v=\(asset.version)")
    }

    @Test(arguments: ["", "..", "dashboard", "DASHBOARD.CSS", "dashboard.css/"])
    func `nothing else is`(name: String) {
        #expect(Assets.asset(named: name) == nil)
    }

    @Test func `each has a version of its own`() {
        #expect(Set(Assets.all.map(\.version)).count == Assets.all.count)
    }

    @Test func `no asset leads outside`() {
        for asset in Assets.all {
            let text = String(decoding: asset.bytes, as: UTF8.self)
            #expect(!text.contains("https://") && !text.contains("url("), "\(asset.name)")
            #expect(text.split(separator: "http://").dropFirst().allSatisfy { $0.hasPrefix("www.w3.org/") })
        }
    }

    @Test func `the script runs nothing from text`() {
        let script = String(decoding: Assets.script.bytes, as: UTF8.self)
        for word in ["eval(", "new Function", "document.write", "outerHTML", "insertAdjacentHTML"] {
            #expect(!script.contains(word), "\(word)")
        }
        // Once, for what the server has escaped.
        #expect(script.split(separator: "innerHTML").count == 2)
    }
}
