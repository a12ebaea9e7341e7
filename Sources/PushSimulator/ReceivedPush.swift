package import struct FoundationEssentials.Date

/// One push as it came in, and what was answered.
package struct ReceivedPush: Sendable {
    package enum Provider: String, Codable, Sendable {
        case apns, fcm
    }

    /// From 1 up, never used twice in one run.
    package var number: Int
    package var provider: Provider
    /// Of the APNs host; nil for FCM.
    package var environment: APNSEnvironment?
    package var path: String
    /// Names in lower case; the last of a repeated header.
    package var headers: [String: String]
    package var body: String
    /// What was answered, or would have been but for ``fault``.
    package var status: Int
    package var reason: String?
    /// What kept the answer from the client, or replaced it: `answer`, `silence`, `reset`, `close`.
    package var fault: String?
    package var warning: String?
    package var at: Date

    /// The device's address: from the path for APNs, from the message for FCM.
    package var deviceToken: String? {
        switch self.provider {
        case .apns: return self.path.split(separator: "/").last.map(String.init)
        case .fcm:
            let message = OrderedJSON(Array(self.body.utf8))?["message"]
            return (message?["token"] ?? message?["fid"])?.string
        }
    }

    /// What the phone shows once however often it comes: APNs its `apns-id`, FCM the address with `data.id`.
    package var identity: String? {
        switch self.provider {
        case .apns: return self.headers["apns-id"]?.lowercased()
        case .fcm:
            let message = OrderedJSON(Array(self.body.utf8))?["message"]
            guard let id = message?["data"]?["id"]?.string, let address = (message?["token"] ?? message?["fid"])?.string
            else { return nil }
            return "\(address) \(id)"
        }
    }
}

extension ReceivedPush: Encodable {
    private enum CodingKeys: String, CodingKey {
        case number, provider, environment, path, headers, body, status, reason, fault, warning, at
    }

    /// As `GET /received` shows it; `at` in ISO 8601 with milliseconds, UTC.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.number, forKey: .number)
        try container.encode(self.provider, forKey: .provider)
        try container.encodeIfPresent(self.environment, forKey: .environment)
        try container.encode(self.path, forKey: .path)
        try container.encode(self.headers, forKey: .headers)
        try container.encode(self.body, forKey: .body)
        try container.encode(self.status, forKey: .status)
        try container.encode(self.reason, forKey: .reason)
        try container.encodeIfPresent(self.fault, forKey: .fault)
        try container.encodeIfPresent(self.warning, forKey: .warning)
        try container.encode(self.at.ISO8601Format(.init(includingFractionalSeconds: true)), forKey: .at)
    }
}
