/// One push as a line for people.
package enum PushLine {
    /// `apns development contact_updated "Anna updated her details / Phone number" badge 3 → 200`.
    ///
    /// - Parameter coloured: with terminal colours: refusals red, warnings and faults yellow.
    package static func text(_ push: ReceivedPush, coloured: Bool) -> String {
        var words = [push.provider.rawValue]
        if let environment = push.environment { words.append(environment.rawValue) }
        words += Self.content(push)
        var outcome = "→ \(push.status)"
        if let reason = push.reason { outcome += " \(reason)" }
        words.append(Self.paint(outcome, push.status == 200 ? 32 : 31, coloured))
        if let fault = push.fault { words.append(Self.paint("(fault: \(fault))", 33, coloured)) }
        if let warning = push.warning { words.append(Self.paint("(warning: \(warning))", 33, coloured)) }
        return words.joined(separator: " ")
    }

    private static func content(_ push: ReceivedPush) -> [String] {
        guard let payload = OrderedJSON(Array(push.body.utf8)) else { return ["(not JSON)"] }
        switch push.provider {
        case .apns:
            var words = [payload["kind"]?.string ?? "-"]
            let alert = payload["aps"]?["alert"]
            let texts = [alert?["title"]?.string, alert?["body"]?.string ?? alert?.string].compactMap { $0 }
            if !texts.isEmpty { words.append("\"" + texts.map(Self.printable).joined(separator: " / ") + "\"") }
            if let badge = payload["aps"]?["badge"]?.integer { words.append("badge \(badge)") }
            return words
        case .fcm:
            let data = payload["message"]?["data"]?.members ?? []
            return [payload["message"]?["data"]?["kind"]?.string ?? "-"]
                + data.filter { $0.name != "kind" }.map { "\($0.name)=\(Self.printable($0.value.string ?? "?"))" }
        }
    }

    /// Without control characters: the text comes from outside and goes to a terminal.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter {
                    !$0.properties.isBidiControl && $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
                }))
    }

    private static func paint(_ text: String, _ colour: Int, _ coloured: Bool) -> String {
        let plain = Self.printable(text)
        return coloured ? "\u{1B}[\(colour)m\(plain)\u{1B}[0m" : plain
    }
}
