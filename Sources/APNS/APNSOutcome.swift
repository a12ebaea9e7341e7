package import FoundationEssentials
package import HTTPTransport
package import PushModel

/// Reads what APNs answered.
package enum APNSOutcome {
    /// Never fails: an answer that is no JSON, or says what no one knows, is classified by its status.
    ///
    /// `now` bounds what a 410 may claim: see ``unregisteredSince(_:now:)``.
    package static func read(status: Int, headers: [String: String] = [:], body: [UInt8] = [], now: Date) -> SendOutcome
    {
        if status == 200 {
            // The development environment names the entry of Apple's delivery log; the other id is ours.
            return .accepted(providerID: (headers["apns-unique-id"] ?? headers["apns-id"]).flatMap(ReasonText.word))
        }
        let answer = (try? JSONDecoder().decode(Answer.self, from: Data(body))) ?? Answer()
        let reason = answer.reason.flatMap(ReasonText.word)
        let row = APNSReaction.table.first { $0.status == status && $0.reason == reason }
        return (row?.reaction ?? APNSReaction.byStatus(status)).outcome(
            reason: reason ?? ReasonText.status(status),
            since: answer.timestamp.flatMap { Self.unregisteredSince($0, now: now) },
            retryAfter: headers["retry-after"].flatMap { RetryAfter.parse($0, now: now) })
    }

    /// The end of one request, answered or not.
    package static func read(_ result: Result<HTTPAnswer, HTTPFailure>, now: Date) -> SendOutcome {
        switch result {
        case .success(let answer):
            return Self.read(status: answer.status, headers: answer.headers, body: answer.body, now: now)
        case .failure(let failure):
            switch failure.fate {
            case .notSent: return .retry(.init(reason: failure.reason, scope: .host, countsAsAttempt: false))
            case .unknown: return .unknown(reason: failure.reason)
            }
        }
    }

    /// When the token ended, from a 410's milliseconds. Nil unless between 2010 and tomorrow: seconds in the place of
    /// milliseconds would lie in 1970, and a moment in the future would outdo every registration.
    static func unregisteredSince(_ milliseconds: Double, now: Date) -> Date? {
        let date = Date(timeIntervalSince1970: milliseconds / 1000)
        let plausible =
            Date(
                timeIntervalSince1970: 1_262_304_000)...max(
                Date(timeIntervalSince1970: 1_262_304_000), now + 86_400)
        return plausible.contains(date) ? date : nil
    }

    /// The body of a refusal. A member of the wrong type is as good as none.
    private struct Answer: Decodable {
        var reason: String?
        var timestamp: Double?

        enum CodingKeys: CodingKey {
            case reason, timestamp
        }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.reason = try? container.decode(String.self, forKey: .reason)
            self.timestamp = try? container.decode(Double.self, forKey: .timestamp)
        }
    }
}
