private import struct FoundationEssentials.Data
private import class FoundationEssentials.JSONDecoder

/// What shall go wrong, rule by rule, in a way that a second run repeats.
package struct FaultPlan: Sendable {
    package private(set) var rules: [FaultRule]
    /// For each rule: requests that matched it, and requests it was applied to.
    package private(set) var matched: [Int]
    package private(set) var applied: [Int]
    private var random: SeededGenerator

    package init(_ rules: [FaultRule] = [], seed: UInt64 = 1) {
        self.rules = rules
        self.matched = [Int](repeating: 0, count: rules.count)
        self.applied = self.matched
        self.random = SeededGenerator(seed: seed)
    }

    package var isEmpty: Bool { self.rules.isEmpty }
    /// Whether a rule wants to know the device.
    package var looksAtDevices: Bool { self.rules.contains { $0.token != nil } }

    /// The first rule that meets this request, or nil.
    package mutating func rule(
        provider: FaultRule.Provider, environment: APNSEnvironment? = nil, token: String? = nil
    ) -> FaultRule? {
        for index in self.rules.indices {
            let rule = self.rules[index]
            guard rule.provider == provider, rule.environment == nil || rule.environment == environment,
                rule.token == nil || rule.token == token, self.applied[index] < rule.count ?? .max
            else { continue }
            self.matched[index] += 1
            guard self.matched[index] > rule.after ?? 0 else { continue }
            if let share = rule.share, Double.random(in: 0..<1, using: &self.random) >= share { continue }
            self.applied[index] += 1
            return rule
        }
        return nil
    }

    /// Reads a plan: an array of rules, or `{"seed":N,"rules":[…]}`. A name it does not know is an error: a rule with a
    /// slip in it must not silently do nothing.
    package init(json: [UInt8]) throws(FaultPlanError) {
        guard let value = OrderedJSON(json) else { throw FaultPlanError("not JSON") }
        try Self.checkNames(in: value)
        let file: File
        do {
            let decoder = JSONDecoder()
            file =
                value.members == nil
                ? File(seed: nil, rules: try decoder.decode([FaultRule].self, from: Data(json)))
                : try decoder.decode(File.self, from: Data(json))
        } catch let error as DecodingError {
            throw FaultPlanError(error.explanation)
        } catch {
            throw FaultPlanError("not a fault plan")
        }
        for (index, rule) in file.rules.enumerated() {
            if let fault = rule.fault { throw FaultPlanError("rule \(index + 1): \(fault)") }
        }
        self.init(file.rules, seed: file.seed ?? 1)
    }

    private struct File: Codable {
        var seed: UInt64?
        var rules: [FaultRule]
    }

    private static let ruleNames: Set<String> = [
        "provider", "environment", "token", "after", "count", "share", "answer", "silence", "resetStream",
        "resetAfterHeaders", "goaway", "closeConnection", "streamLimit", "dateOffsetSeconds", "delayMilliseconds",
    ]
    private static let answerNames: Set<String> = ["status", "reason", "timestamp", "retryAfter", "body"]
    private static let goawayNames: Set<String> = ["reason", "debugData", "code", "handlesRequest"]

    private static func checkNames(in value: OrderedJSON) throws(FaultPlanError) {
        let rules: [OrderedJSON]
        switch value {
        case .array(let values): rules = values
        default:
            try Self.checkNames(of: value, ["seed", "rules"])
            guard case .array(let values)? = value["rules"] else { throw FaultPlanError("rules is not an array") }
            rules = values
        }
        for rule in rules {
            try Self.checkNames(of: rule, Self.ruleNames)
            if let answer = rule["answer"] { try Self.checkNames(of: answer, Self.answerNames) }
            if let goaway = rule["goaway"] { try Self.checkNames(of: goaway, Self.goawayNames) }
        }
    }

    private static func checkNames(of value: OrderedJSON, _ known: Set<String>) throws(FaultPlanError) {
        guard let members = value.members else { throw FaultPlanError("\(value.text.prefix(60)) is not an object") }
        if let unknown = members.first(where: { !known.contains($0.name) }) {
            let names = known.sorted().joined(separator: ", ")
            throw FaultPlanError("\"\(unknown.name.prefix(60))\" is not known here; known are \(names)")
        }
    }
}

/// A fault plan that cannot be used.
package struct FaultPlanError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = "the fault plan: \(description.prefix(500))"
    }
}

/// SplitMix64: small, and the same on every machine, so that a seed names what was drawn for ever.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        self.state = seed
    }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

extension DecodingError {
    /// Where in the text, and what is wrong there.
    var explanation: String {
        let context: Context
        switch self {
        case .typeMismatch(_, let given), .valueNotFound(_, let given), .keyNotFound(_, let given),
            .dataCorrupted(let given):
            context = given
        @unknown default: return "not as expected"
        }
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
    }
}
