import APNS
import FCM
import FoundationEssentials
import HTTPTransport
import PushModel

/// What the two push services answer: any status, header and body.
extension FuzzTarget {
    /// 14 November 2026, 08:00 in Greenwich.
    static let now = Date(timeIntervalSince1970: 1_794_643_200)
    private static let firstPossible = Date(timeIntervalSince1970: 1_262_304_000)

    private static let statuses = Corpus(
        .bytes,
        ([
            "200", "200", "400", "400", "401", "403", "403", "404", "405", "408", "410", "410", "413", "429", "500",
            "502", "503",
        ]
            + ["0", "-1", "100", "201", "204", "301", "407", "418", "999", "9223372036854775807"]),
        unchangedOneIn: 1)
    private static let waits = Corpus(
        .bytes, ["", "", "", "3", "120", "Sun, 15 Nov 2026 08:00:00 GMT"], unchangedOneIn: 2)
    private static let ids = Corpus(
        .bytes,
        ["", "eabeae54-14a8-11e5-b60b-1697f925ec7b", "EC1BF194-B3B2-424A-89A9-5A918A6E6B5E"], unchangedOneIn: 2)

    // MARK: - APNs

    private static let apnsReasons = [
        "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
        "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
        "MissingTopic", "PayloadEmpty", "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment",
        "ExpiredProviderToken", "Forbidden", "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken",
        "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", "BadPath", "MethodNotAllowed", "ExpiredToken",
        "Unregistered", "PayloadTooLarge", "TooManyProviderTokenUpdates", "TooManyRequests", "InternalServerError",
        "ServiceUnavailable", "Shutdown",
    ]
    private static let apnsDead: Set<String> = ["410 Unregistered", "410 ExpiredToken", "400 DeviceTokenNotForTopic"]
    private static let apnsKnown = Set(Self.apnsReasons)

    static let apnsAnswer = FuzzTarget(
        "apns-answer",
        [
            "body": Corpus(
                .json,
                Self.apnsReasons.map { "{\"reason\":\"\($0)\"}" } + [
                    "{\"reason\":\"Unregistered\",\"timestamp\":1794643100000}",
                    "{\"reason\":\"ExpiredToken\",\"timestamp\":1262304000000.5}",
                    "{\"reason\":\"Unregistered\",\"timestamp\":\"1794643100000\"}",
                    "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", "",
                ], unchangedOneIn: 3),
            "status": Self.statuses, "retry-after": Self.waits, "apns-id": Self.ids, "apns-unique-id": Self.ids,
        ]
    ) { input throws(FuzzFinding) in
        let status = input.status
        let headers = ["retry-after": input.text(2), "apns-id": input.text(3), "apns-unique-id": input.text(4)]
        let outcome = APNSOutcome.read(
            status: status, headers: headers.compactMapValues { $0 }, body: input.bytes, now: Self.now)
        try Self.checkOutcome(outcome, status: status, longestReason: ReasonText.longest)
        switch outcome {
        case .deviceDead(let reason, let since):
            try expect(Self.apnsDead.contains("\(status) \(reason)"), "dead by \(status) \(reason)")
            if let since {
                try expect(since >= Self.firstPossible && since <= Self.now + 86_400, "dead since \(since)")
            }
        case .badDeviceToken(let reason):
            try expect(status == 400 && reason == "BadDeviceToken", "a bad token by \(status) \(reason)")
        default: break
        }
        return Self.outcome(outcome, known: Self.apnsKnown)
    }

    // MARK: - FCM

    private static let fcmCodes = [
        "UNREGISTERED", "SENDER_ID_MISMATCH", "INVALID_ARGUMENT", "QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL",
        "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR", "UNSPECIFIED_ERROR",
    ]
    private static let fcmKnown = Set(
        Self.fcmCodes + ["NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED", "SERVICE_DISABLED"])
    private static let fcmDead: Set<String> = ["404 UNREGISTERED", "403 SENDER_ID_MISMATCH"]

    private static let fcmBodies: [String] =
        Self.fcmCodes.map { code in
            """
            {"error":{"code":400,"message":"m","status":"NOT_FOUND","details":[{"@type":\
            "type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\(code)"}]}}
            """
        } + [
            "{\n  \"name\": \"projects/p/messages/0:1500415314455276%31bd1c9631bd1c96\"\n}\n",
            """
            {"error":{"code":400,"message":"The registration token is not a valid FCM registration token","status":\
            "INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":\
            [{"field":"message.token","description":"Invalid registration token"}]}]}}
            """,
            """
            {"error":{"code":403,"message":"disabled","status":"PERMISSION_DENIED","details":[{"@type":\
            "type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com"}]}}
            """,
            """
            {"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":\
            "type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"device","description":"d"}]}]}}
            """,
            "<!DOCTYPE html>\n<html lang=en><title>Error 502 (Server Error)!!1</title>", "",
        ]

    static let fcmAnswer = FuzzTarget(
        "fcm-answer",
        [
            "body": Corpus(.json, Self.fcmBodies, unchangedOneIn: 3), "status": Self.statuses,
            "retry-after": Self.waits,
        ]
    ) { input throws(FuzzFinding) in
        let status = input.status
        let outcome = FCMOutcome.read(
            status: status, headers: input.text(2).map { ["retry-after": $0] } ?? [:], body: input.bytes, now: Self.now)
        // A refusal of the payload names the field beside the reason.
        try Self.checkOutcome(outcome, status: status, longestReason: 2 * ReasonText.longest + 1)
        switch outcome {
        case .deviceDead(let reason, let since):
            try expect(since == nil && Self.fcmDead.contains("\(status) \(reason)"), "dead by \(status) \(reason)")
        case .badDeviceToken: try expect(status == 400, "a bad token by \(status)")
        default: break
        }
        let validated = FCMOutcome.afterValidation(outcome, of: .badDeviceToken(reason: "INVALID_ARGUMENT"))
        if case .deviceDead = validated {
            let isConfirmed = outcome.name == "device_dead" || outcome.name == "bad_device_token"
            try expect(isConfirmed, "a validation that ended \(outcome.name) made a device dead")
        }
        return Self.outcome(outcome, known: Self.fcmKnown)
    }

    // MARK: - Both

    private static func checkOutcome(_ outcome: SendOutcome, status: Int, longestReason: Int) throws(FuzzFinding) {
        guard case .accepted(let providerID) = outcome else {
            try expect(status != 200, "a 200 is \(outcome)")
            let words = (outcome.reason ?? "").split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            try expect(
                (1...2).contains(words.count) && words.allSatisfy(\.isReasonWord)
                    && outcome.reason?.utf8.count ?? 0 <= longestReason, "the reason \(outcome.reason ?? "nil")")
            return try Self.checkDetails(outcome)
        }
        try expect(status == 200, "accepted with status \(status)")
        if let providerID {
            try expect(!providerID.isEmpty && providerID.utf8.count <= 200, "\(providerID.utf8.count) bytes of id")
            try expect(providerID.isPrintableASCII, "the id \(providerID)")
        }
    }

    private static func checkDetails(_ outcome: SendOutcome) throws(FuzzFinding) {
        switch outcome {
        case .retry(let retry):
            if let floor = retry.floor {
                try expect(floor >= .zero && floor <= RetryAfter.longest, "a wait of \(floor)")
            }
        case .misconfigured(_, let fix, _):
            try expect(!fix.isEmpty && fix.utf8.count <= 300 && fix.isPrintableASCII, "the fix \(fix)")
        default: break
        }
    }

    private static func outcome(_ outcome: SendOutcome, known: Set<String>) -> FuzzOutcome {
        guard let reason = outcome.reason else { return .read(outcome.name) }
        if known.contains(reason) { return .read("\(outcome.name) \(reason)") }
        return reason.hasPrefix("status_") ? .refused(outcome.name) : .read("\(outcome.name) other")
    }

    // MARK: - The lines of an answer

    static let httpAnswer = FuzzTarget(
        "http-answer",
        [
            "head": Corpus(
                .bytes,
                [
                    "HTTP/2 200 \r\napns-id: EC1BF194\r\n\r\n",
                    "HTTP/2 410 \r\ncontent-type: application/json\r\napns-id: x\r\ncontent-length: 18\r\n\r\n",
                    "HTTP/2 103 \r\nlink: </x>\r\n\r\nHTTP/2 503 \r\nRetry-After:  30 \r\n\r\n",
                    "HTTP/1.1 429 Too Many Requests\r\nretry-after: Sun, 15 Nov 2026 08:00:00 GMT\r\n\r\n",
                ], words: ["HTTP/", "\r\n", ": "]), "body": Corpus(.bytes, ["", "{\"reason\":\"BadPath\"}"]),
        ]
    ) { input throws(FuzzFinding) in
        var random = input.random
        let isComplete = random.oneIn(2)
        var buffer = AnswerBuffer()
        for line in input.bytes.split(separator: 0x0A) { (line + [0x0A]).withUnsafeBytes { buffer.appendHeader($0) } }
        for _ in 0..<(random.oneIn(2000) ? 4000 : 1) {
            input.fields[1].bytes.withUnsafeBytes { buffer.appendBody($0) }
        }
        guard let answer = buffer.makeAnswer(isComplete: isComplete) else { return .refused("none") }
        try expect((200...999).contains(answer.status), "status \(answer.status)")
        try expect(answer.body.count <= 64 * 1024, "\(answer.body.count) bytes of body")
        for (name, value) in answer.headers {
            try expect(name == name.lowercased(), "the name \(name)")
            let bytes = Array(name.utf8) + Array(value.utf8)
            try expect(!bytes.contains(0x0A) && !bytes.contains(0x0D), "a line end in \(name)")
            try expect(value.utf8.first != 0x20 && value.utf8.last != 0x20, "space around \(name)")
        }
        return .read("\(answer.status / 100)xx \(min(answer.headers.count, 5)) headers")
    }
}

extension FuzzInput {
    fileprivate var status: Int { self.text(1).flatMap(Int.init) ?? 0 }
}
