import FoundationEssentials
import JSONWebToken
import TestSupport

/// A headless Chromium, spoken to by the WebDriver protocol (W3C) through a chromedriver of its own.
final class WebDriver: Sendable {
    /// What the driver answered instead of a value.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// The key under which the protocol names an element.
    static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

    private let driver: ChildProcess
    private let base: String
    private let session: String

    /// A browser for as long as `body` takes, whatever comes.
    static func run(_ body: (WebDriver) async throws -> Void) async throws {
        let browser = try await Self.start()
        do {
            try await body(browser)
        } catch {
            try? await browser.stop()
            throw error
        }
        try await browser.stop()
    }

    private static func start() async throws -> WebDriver {
        let driver = try ChildProcess("/usr/bin/chromedriver", arguments: ["--port=0"])
        let line = try await driver.waitForLine(containing: "started successfully on port")
        guard let port = line.split(separator: " ").last.flatMap({ Int($0.filter(\.isNumber)) }) else {
            throw Refusal(description: "chromedriver names no port: \(line)")
        }
        let base = "http://127.0.0.1:\(port)"
        let answer = try await Self.command(
            "POST", base + "/session",
            [
                "capabilities": [
                    "alwaysMatch": [
                        "browserName": "chrome", "goog:loggingPrefs": ["browser": "ALL"],
                        "timeouts": ["script": 90_000, "pageLoad": 90_000],
                        "goog:chromeOptions": [
                            "args": [
                                "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                                "--hide-scrollbars", "--window-size=1280,900", "--disable-background-networking",
                                "--no-first-run",
                                // It ends with its driver, also with one that is killed.
                                "--remote-debugging-pipe",
                            ]
                        ],
                    ]
                ]
            ])
        guard let session = answer.object?["sessionId"]?.string else {
            throw Refusal(description: "chromedriver began no session")
        }
        return WebDriver(driver, base, session)
    }

    private init(_ driver: ChildProcess, _ base: String, _ session: String) {
        self.driver = driver
        self.base = base
        self.session = session
    }

    /// Ends the browser, then its driver.
    private func stop() async throws {
        _ = try? await Self.command("DELETE", "\(self.base)/session/\(self.session)", nil)
        self.driver.signal(15)
        try await self.driver.waitForExit()
    }

    @discardableResult
    func ask(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        try await Self.command(method, "\(self.base)/session/\(self.session)\(path)", body)
    }

    /// By curl: Foundation's own client does not take what chromedriver sends as headers.
    private static func command(_ method: String, _ address: String, _ body: JSONValue?) async throws -> JSONValue {
        var arguments = ["-sS", "-m", "90", "-X", method, "-H", "Content-Type: application/json", address]
        let json = method == "POST" ? (body ?? [:]).json : ""
        var file: String?
        defer { if let file { try? FileManager.default.removeItem(atPath: file) } }
        if json.utf8.count > 64 * 1024 {
            // Longer than an argument may be.
            let path = FileManager.default.temporaryDirectory.path + "/webdriver-\(UUID().uuidString).json"
            file = path
            try Data(json.utf8).write(to: URL(filePath: path))
            arguments += ["--data-binary", "@\(path)"]
        } else if method == "POST" {
            arguments += ["--data-raw", json]
        }
        let text = try await ChildProcess.run("/usr/bin/curl", arguments, within: .seconds(100))
        let answer = try JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))["value"] ?? .null
        if let error = answer.object?["error"]?.string {
            let message = answer.object?["message"]?.string ?? ""
            throw Refusal(description: "\(method) \(address): \(error): \(message.prefix(300))")
        }
        return answer
    }
}
