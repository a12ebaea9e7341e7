private import struct FoundationEssentials.Data
private import class FoundationEssentials.JSONDecoder
private import class FoundationEssentials.JSONEncoder

/// The simulator's own endpoints, for people and scripts: JSON in, JSON out.
///
/// ```
/// GET    /health                       what runs
/// GET    /received[?since=N&limit=N]   pushes, oldest first      DELETE /received   forgets them
/// GET    /counts                       sums, and what came twice
/// GET    /devices                      how many are known        POST /devices [{"platform","token",…}]   DELETE /devices
/// GET    /faults                       rules and their counts    POST /faults [{"provider",…}]            DELETE /faults
/// ```
enum ControlAPI {
    static func answer(_ request: SimulatedRequest, _ model: inout SimulatorModel) -> H2Answer {
        let parts = request.path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count == 2 ? FormFields(Array(parts[1].utf8)) : FormFields([])
        guard request.bodyCount == request.body.count else { return Self.error(413, "the body is too large") }
        switch (request.method, parts[0]) {
        case ("GET", "/health"): return Self.json(["status": "ok"])
        case ("GET", "/received"):
            let since = query?["since"].map { Int($0) } ?? 0, limit = query?["limit"].map { Int($0) } ?? .max
            guard query != nil, let since, let limit, since >= 0, limit >= 0 else {
                return Self.error(400, "since and limit are whole numbers from 0 up")
            }
            return Self.json(model.received.all(since: since, limit: limit))
        case ("DELETE", "/received"):
            model.received.clear()
            return Self.json(["received": 0])
        case ("GET", "/counts"): return Self.json(Counts(model))
        case ("GET", "/devices"): return Self.json(["devices": model.devices.count])
        case ("POST", "/devices"): return Self.registerDevices(request.body, &model)
        case ("DELETE", "/devices"):
            model.devices.removeAll()
            return Self.json(["devices": 0])
        case ("GET", "/faults"): return Self.json(Rule.all(of: model.faults))
        case ("POST", "/faults"):
            do throws(FaultPlanError) { model.faults = try FaultPlan(json: request.body) } catch {
                return Self.error(400, error.description)
            }
            return Self.json(["rules": model.faults.rules.count])
        case ("DELETE", "/faults"):
            model.faults = FaultPlan()
            return Self.json(["rules": 0])
        case (_, "/health"), (_, "/received"), (_, "/counts"), (_, "/devices"), (_, "/faults"):
            return Self.error(405, "\(request.method) is not for \(parts[0])")
        default:
            return Self.error(
                404,
                "not found; there are /health, /received, /counts, /devices and /faults. "
                    + "Pushes go to the other ports: see the line that begins with ready")
        }
    }

    private static func registerDevices(_ body: [UInt8], _ model: inout SimulatorModel) -> H2Answer {
        do {
            let devices = try JSONDecoder().decode([SimulatedDevice].self, from: Data(body))
            model.devices.register(devices)
            return Self.json(["devices": model.devices.count])
        } catch let error as DecodingError {
            return Self.error(400, "the devices: \(error.explanation)")
        } catch {
            return Self.error(400, "the devices are not JSON")
        }
    }

    private static func json(_ value: some Encodable) -> H2Answer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return H2Answer(status: 500) }
        return H2Answer(
            status: 200, headers: [H2Header("content-type", "application/json")],
            body: Array(data) + [UInt8(ascii: "\n")])
    }

    private static func error(_ status: Int, _ message: String) -> H2Answer {
        H2Answer(
            status: status, headers: [H2Header("content-type", "application/json")],
            body: Array("{\"error\":\(OrderedJSON.quoted(message))}\n".utf8))
    }

    /// `GET /counts`.
    private struct Counts: Encodable {
        var pushes: ReceivedCounts
        var tokensIssued: Int
        var tokensRefused: Int
        var acceptedUnseen: Int

        init(_ model: SimulatorModel) {
            self.pushes = model.received.counts
            self.tokensIssued = model.tokensIssued
            self.tokensRefused = model.tokensRefused
            self.acceptedUnseen = model.acceptedUnseen
        }

        private enum CodingKeys: String, CodingKey {
            case tokensIssued, tokensRefused, acceptedUnseen
        }

        /// The counts of pushes stand beside the others, not below a name of their own.
        func encode(to encoder: any Encoder) throws {
            try self.pushes.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(self.tokensIssued, forKey: .tokensIssued)
            try container.encode(self.tokensRefused, forKey: .tokensRefused)
            try container.encode(self.acceptedUnseen, forKey: .acceptedUnseen)
        }
    }

    /// `GET /faults`: a rule and how often it was met.
    private struct Rule: Encodable {
        var rule: FaultRule
        var matched: Int
        var applied: Int

        static func all(of plan: FaultPlan) -> [Rule] {
            plan.rules.indices.map { Rule(rule: plan.rules[$0], matched: plan.matched[$0], applied: plan.applied[$0]) }
        }
    }
}
