/// A `messages:send` request as FCM's parser reads it: names in `snake_case` or `camelCase`, types checked.
struct FCMMessage: Equatable {
    var validateOnly = false
    /// Targets in the order in which they were sent: `token`, `topic`, `condition` or `fid`.
    var targets: [(name: String, value: String)] = []
    var data: [(name: String, value: String)] = []
    var hasNotification = false
    var hasAndroid = false
    var priority: String?
    var ttl: OrderedJSON?
    var restrictedPackage: String?

    static func == (left: FCMMessage, right: FCMMessage) -> Bool {
        left.targets.elementsEqual(right.targets, by: ==) && left.data.elementsEqual(right.data, by: ==)
            && left.validateOnly == right.validateOnly && left.hasNotification == right.hasNotification
            && left.priority == right.priority && left.ttl == right.ttl
            && left.restrictedPackage == right.restrictedPackage
    }

    private static let rootNames: Set<String> = ["validate_only", "message"]
    private static let messageNames: Set<String> = [
        "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "token", "topic", "condition",
        "fid", "android_v2",
    ]
    private static let androidNames: Set<String> = [
        "collapse_key", "priority", "ttl", "restricted_package_name", "data", "notification", "fcm_options",
        "direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok",
    ]

    /// Rows 7 and 8 of F.4.
    init(_ body: [UInt8]) throws(FCMRefusal) {
        guard let root = OrderedJSON(body)?.members else {
            throw .invalid("Invalid JSON payload received. Unexpected token.")
        }
        for (name, value) in try Self.fields(root, known: Self.rootNames, at: "") {
            switch name {
            case "validate_only": self.validateOnly = value == .bool(true)
            default: try self.readMessage(value)
            }
        }
    }

    private mutating func readMessage(_ value: OrderedJSON) throws(FCMRefusal) {
        for (name, value) in try Self.fields(try Self.object(value, "message"), known: Self.messageNames, at: "message")
        {
            switch name {
            case "data": self.data = try Self.strings(value, at: "message.data")
            case "notification": self.hasNotification = true
            case "android": try self.readAndroid(value)
            case "token", "topic", "condition", "fid":
                self.targets.append((name, try Self.string(value, "message.\(name)")))
            default: break
            }
        }
    }

    private mutating func readAndroid(_ value: OrderedJSON) throws(FCMRefusal) {
        self.hasAndroid = true
        let path = "message.android"
        for (name, value) in try Self.fields(try Self.object(value, path), known: Self.androidNames, at: path) {
            switch name {
            case "data": self.data = try Self.strings(value, at: "\(path).data")
            case "notification": self.hasNotification = true
            // Row 10, an enum: the text has not been seen for this one.
            case "priority": self.priority = try Self.string(value, "\(path).priority")
            case "ttl": self.ttl = value
            case "restricted_package_name": self.restrictedPackage = try Self.string(value, "\(path).\(name)")
            default: break
            }
        }
    }

    // MARK: - Types

    /// The members with their names in `snake_case`; a name FCM does not know is refused in Google's words.
    private static func fields(_ members: [OrderedJSON.Member], known: Set<String>, at path: String)
        throws(FCMRefusal) -> [(String, OrderedJSON)]
    {
        var result: [(String, OrderedJSON)] = []
        for member in members {
            let name = Self.snakeCase(member.name)
            guard known.contains(name) else {
                let place = path.isEmpty ? "" : " at '\(path)'"
                let message =
                    "Invalid JSON payload received. Unknown name \"\(member.name)\"\(place): Cannot find field."
                throw .invalid(message, field: path)
            }
            result.append((name, member.value))
        }
        return result
    }

    private static func snakeCase(_ name: String) -> String {
        guard name.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return name }
        return name.reduce(into: "") { result, character in
            result += character.isUppercase ? "_" + character.lowercased() : String(character)
        }
    }

    private static func object(_ value: OrderedJSON, _ path: String) throws(FCMRefusal) -> [OrderedJSON.Member] {
        guard let members = value.members else {
            throw .invalid("Invalid value at '\(path)' (TYPE_MESSAGE), \(value.text)", field: path)
        }
        return members
    }

    private static func string(_ value: OrderedJSON, _ path: String) throws(FCMRefusal) -> String {
        guard let text = value.string else {
            throw .invalid("Invalid value at '\(path)' (TYPE_STRING), \(value.text)", field: path)
        }
        return text
    }

    private static func strings(_ value: OrderedJSON, at path: String) throws(FCMRefusal) -> [(String, String)] {
        var result: [(String, String)] = []
        for (index, member) in try Self.object(value, path).enumerated() {
            result.append((member.name, try Self.string(member.value, "\(path)[\(index)].value")))
        }
        return result
    }
}
