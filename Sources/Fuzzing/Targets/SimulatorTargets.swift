import FoundationEssentials
import PushSimulator

/// What the simulator reads.
extension FuzzTarget {
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) {}
    }

    static let orderedJSON = FuzzTarget(
        "ordered-json",
        [
            "text": Corpus(
                .json,
                [
                    "{\"message\":{\"data\":{\"id\":\"x\",\"kind\":\"y\"},\"token\":\"t\"}}",
                    "[1,-2.5e3,true,null,\"\\u00e9\\ud83d\\ude00\"]", "\"x\"", "0",
                ])
        ]
    ) { input throws(FuzzFinding) in
        guard let value = OrderedJSON(input.bytes) else { return .refused("none") }
        let text = value.text
        try expect(OrderedJSON(Array(text.utf8)) == value, "\(text.prefix(200)) is another value")
        // Another reader takes it too.
        let isJSON = (try? JSONDecoder().decode(AnyJSON.self, from: Data(input.bytes))) != nil
        try expect(isJSON, "Foundation does not read it")
        return .read(
            value.members != nil ? "object" : value.isNumber ? "number" : value.string != nil ? "string" : "other")
    }

    static let faultPlan = FuzzTarget(
        "fault-plan",
        [
            "plan": Corpus(
                .json,
                [
                    "[{\"provider\":\"apns\",\"environment\":\"production\",\"token\":\"ab\",\"after\":1,\"count\":2,\"share\":0.5,\"answer\":{\"status\":410,\"reason\":\"Unregistered\",\"timestamp\":1,\"retryAfter\":\"5\",\"body\":\"x\"}}]",
                    "{\"seed\":7,\"rules\":[{\"provider\":\"fcm\",\"silence\":true},{\"provider\":\"token\",\"resetStream\":7,\"resetAfterHeaders\":true}]}",
                    "[{\"provider\":\"apns\",\"goaway\":{\"reason\":\"Shutdown\",\"debugData\":\"d\",\"code\":0,\"handlesRequest\":false}},{\"provider\":\"fcm\",\"closeConnection\":\"afterHandling\",\"streamLimit\":1,\"dateOffsetSeconds\":-60,\"delayMilliseconds\":50}]",
                ])
        ]
    ) { input throws(FuzzFinding) in
        switch Result(catching: { () throws(FaultPlanError) in try FaultPlan(json: input.bytes) }) {
        case .success(var plan):
            for provider in [FaultRule.Provider.apns, .fcm, .token, .apns] {
                guard let rule = plan.rule(provider: provider, environment: .production, token: "ab") else { continue }
                try expect(rule.provider == provider, "a rule of \(rule.provider) for \(provider)")
                if let status = rule.answer?.status { try expect((200...599).contains(status), "status \(status)") }
            }
            return .read("\(min(plan.rules.count, 4)) rules")
        case .failure(let error):
            try expect(error.description.count <= 600, "a message of \(error.description.count)")
            let kinds = ["not JSON", "not known", "not an object", "not an array", "rule "]
            return .refused(kinds.first { error.description.contains($0) } ?? "other")
        }
    }
}
