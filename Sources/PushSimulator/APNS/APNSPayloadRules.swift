/// What an APNs payload may look like (protocol.md A.13). The real service says nothing of most of these faults and
/// shows the phone something else, or nothing; so they are found here, in the simulator's own words.
enum APNSPayloadRules {
    /// The first fault of a payload, or nil.
    static func fault(in body: [UInt8], pushType: APNSPushType) -> String? {
        guard let payload = OrderedJSON(body), let members = payload.members else {
            return "the payload is not a JSON object"
        }
        if let name = Self.repeatedName(in: members) { return "the payload has two members \(name)" }
        guard let aps = payload["aps"] else { return "the payload has no aps" }
        guard let entries = aps.members else { return "aps is not an object" }
        if let name = Self.repeatedName(in: entries) { return "aps has two members \(name)" }
        for entry in entries {
            if let fault = Self.fault(in: entry) { return fault }
        }
        return Self.mismatch(entries.map(\.name), pushType)
    }

    /// Row 24: a background push shows nothing, an alert shows something.
    private static func mismatch(_ names: [String], _ pushType: APNSPushType) -> String? {
        let shown = names.first { ["alert", "badge", "sound"].contains($0) }
        switch pushType {
        case .background:
            if let shown { return "apns-push-type background with aps.\(shown)" }
            return names.contains("content-available") ? nil : "apns-push-type background without content-available"
        case .alert: return shown == nil ? "apns-push-type alert without alert, badge or sound" : nil
        default: return nil
        }
    }

    private static func fault(in entry: OrderedJSON.Member) -> String? {
        let value = entry.value
        switch entry.name {
        case "alert": return Self.alertFault(value)
        case "badge":
            guard let badge = value.integer, badge >= 0 else { return "aps.badge is not a whole number from 0 up" }
        case "sound": return Self.soundFault(value)
        case "content-available", "mutable-content", "input-push-token":
            guard value == .integer(1) else { return "aps.\(entry.name) is not the number 1" }
        case "thread-id", "category", "target-content-id", "filter-criteria", "event", "attributes-type":
            guard value.string != nil else { return "aps.\(entry.name) is not a string" }
        case "interruption-level":
            guard let level = value.string, ["passive", "active", "time-sensitive", "critical"].contains(level) else {
                return "aps.interruption-level is none of passive, active, time-sensitive, critical"
            }
        case "relevance-score", "stale-date", "dismissal-date", "timestamp":
            guard value.isNumber else { return "aps.\(entry.name) is not a number" }
        case "content-state", "attributes":
            guard value.members != nil else { return "aps.\(entry.name) is not an object" }
        default: return "aps has the member \(entry.name), which iOS ignores"
        }
        return nil
    }

    private static func alertFault(_ value: OrderedJSON) -> String? {
        guard value.string == nil else { return nil }
        guard let members = value.members else { return "aps.alert is neither an object nor a string" }
        for member in members {
            switch member.name {
            case "title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key":
                guard member.value.string != nil else { return "aps.alert.\(member.name) is not a string" }
            case "title-loc-args", "subtitle-loc-args", "loc-args":
                guard case .array(let values) = member.value, values.allSatisfy({ $0.string != nil }) else {
                    return "aps.alert.\(member.name) is not an array of strings"
                }
            default: return "aps.alert has the member \(member.name), which iOS ignores"
            }
        }
        return members.isEmpty ? "aps.alert is empty" : nil
    }

    private static func soundFault(_ value: OrderedJSON) -> String? {
        guard value.string == nil else { return nil }
        guard let members = value.members else { return "aps.sound is neither an object nor a string" }
        let names = members.map(\.name)
        guard Set(names).isSubset(of: ["critical", "name", "volume"]), value["name"]?.string != nil else {
            return "aps.sound is not made of critical, name and volume"
        }
        return nil
    }

    private static func repeatedName(in members: [OrderedJSON.Member]) -> String? {
        var seen: Set<String> = []
        return members.first { !seen.insert($0.name).inserted }?.name
    }
}
