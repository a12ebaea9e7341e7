import Foundation
import JSONWebToken
import TestSupport

/// What a person does with a page. Elements are named by CSS selectors.
extension WebDriver {
    func open(_ address: String) async throws {
        try await self.ask("POST", "/url", ["url": .string(address)])
    }

    func path() async throws -> String {
        let address = try await self.ask("GET", "/url").string ?? ""
        return URL(string: address).map { $0.path + ($0.query.map { "?" + $0 } ?? "") } ?? address
    }

    func title() async throws -> String { try await self.ask("GET", "/title").string ?? "" }

    /// What is updated just now may be drawn anew between the look and the click: then it is looked for again.
    func click(_ selector: String) async throws {
        for _ in 0..<4 {
            do {
                try await self.ask("POST", "/element/\(try await self.element(selector))/click")
                return
            } catch let refusal as Refusal where refusal.description.contains("stale element reference") {}
        }
        throw Refusal(description: "\(selector) does not stay")
    }

    func type(_ text: String, into selector: String) async throws {
        let element = try await self.element(selector)
        try await self.ask("POST", "/element/\(element)/clear")
        try await self.ask("POST", "/element/\(element)/value", ["text": .string(text)])
    }

    /// Presses keys, wherever the focus is.
    func press(_ keys: String) async throws {
        let presses: [JSONValue] = keys.unicodeScalars.flatMap { key -> [JSONValue] in
            ["keyDown", "keyUp"].map { ["type": .string($0), "value": .string(String(key))] }
        }
        try await self.ask(
            "POST", "/actions", ["actions": [["type": "key", "id": "keyboard", "actions": .array(presses)]]])
    }

    /// The text of the first element that matches, as it is shown; of the whole page without a selector.
    func text(_ selector: String = "body") async throws -> String {
        try await self.ask("GET", "/element/\(try await self.element(selector))/text").string ?? ""
    }

    func exists(_ selector: String) async throws -> Bool {
        let found = try await self.ask(
            "POST", "/elements", ["using": "css selector", "value": .string(selector)])
        if case .array(let elements) = found { return !elements.isEmpty }
        return false
    }

    /// Waits for an element with `text` in it.
    func wait(for text: String, in selector: String = "body", file: String = #fileID, line: Int = #line) async throws {
        do {
            try await eventually(every: .milliseconds(100), file: file, line: line) {
                // A page may be on its way out just now.
                (try? await self.text(selector).contains(text)) == true
            }
        } catch {
            throw NotInTime(
                "\(error): no \"\(text)\" in \(selector) of \(try await self.path()):\n\(try await self.text())")
        }
    }

    /// The value of a script's `return`.
    @discardableResult
    func run(_ script: String, _ arguments: [JSONValue] = []) async throws -> JSONValue {
        try await self.ask("POST", "/execute/sync", ["script": .string(script), "args": .array(arguments)])
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await self.ask("POST", "/element", ["using": "css selector", "value": .string(selector)])
        guard let id = found.object?[Self.elementKey]?.string else {
            throw Refusal(description: "no element for \(selector)")
        }
        return id
    }

    /// What the console has said since it was last asked: errors of scripts, refusals by the content security policy,
    /// requests that failed.
    func complaints() async throws -> [String] {
        let entries = try await self.ask("POST", "/se/log", ["type": "browser"])
        guard case .array(let list) = entries else { return [] }
        return list.compactMap { entry in
            guard let entry = entry.object, let level = entry["level"]?.string, level != "INFO", level != "DEBUG"
            else { return nil }
            return "\(level): \(entry["message"]?.string ?? "")"
        }
    }

    // MARK: - How it looks

    enum Look: String, CaseIterable, Sendable {
        case light, dark, phone
    }

    /// Of the narrowest phones in use, in CSS pixels.
    static let phoneWidth: Int64 = 360

    /// As on a wide screen in daylight or at night, or on a phone.
    func show(as look: Look) async throws {
        try await self.tool(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": look == .dark ? "dark" : "light"]
                ]
            ])
        let size: (width: Int64, height: Int64) = look == .phone ? (Self.phoneWidth, 780) : (1280, 900)
        try await self.tool(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(size.width), "height": .integer(size.height), "deviceScaleFactor": 1,
                "mobile": .bool(look == .phone),
            ])
    }

    /// Saves what the whole page looks like as a PNG.
    func screenshot(to path: String) async throws {
        let metrics = try await self.tool("Page.getLayoutMetrics", [:])
        let size = metrics.object?["cssContentSize"]?.object ?? [:]
        let shot = try await self.tool(
            "Page.captureScreenshot",
            [
                "format": "png", "captureBeyondViewport": true,
                "clip": [
                    "x": 0, "y": 0, "width": size["width"] ?? 0, "height": size["height"] ?? 0, "scale": 1,
                ],
            ])
        guard let text = shot.object?["data"]?.string, let data = Data(base64Encoded: text) else {
            throw Refusal(description: "no picture")
        }
        try data.write(to: URL(filePath: path))
    }

    /// A command of Chromium's own protocol, for what WebDriver has no word for.
    @discardableResult
    func tool(_ name: String, _ parameters: JSONValue) async throws -> JSONValue {
        try await self.ask("POST", "/goog/cdp/execute", ["cmd": .string(name), "params": parameters])
    }
}
