/// One rule of a fault plan: which requests it meets, and what then happens to them.
///
/// A rule that gives an answer replaces an acceptance only: a request that is wrong anyway is refused as ever.
package struct FaultRule: Codable, Equatable, Sendable {
    package enum Provider: String, Codable, Sendable {
        case apns, fcm, token
    }

    package struct Answer: Codable, Equatable, Sendable {
        package var status: Int
        /// APNs: the reason. FCM: the error code. Token endpoint: the OAuth error. Nil: an empty or plain body.
        package var reason: String?
        /// APNs 410: milliseconds since 1970. Default: now.
        package var timestamp: Int?
        /// The header `retry-after`, as it is: seconds or an HTTP date.
        package var retryAfter: String?
        /// The body as it is, in place of the provider's shape. HTML if it begins with `<`.
        package var body: String?

        package init(
            status: Int, reason: String? = nil, timestamp: Int? = nil, retryAfter: String? = nil, body: String? = nil
        ) {
            self.status = status
            self.reason = reason
            self.timestamp = timestamp
            self.retryAfter = retryAfter
            self.body = body
        }
    }

    package struct Goaway: Codable, Equatable, Sendable {
        /// Put into the debug data as APNs does, `{"reason":"X"}`. Nil: empty debug data.
        package var reason: String?
        /// The debug data as it is, in place of `reason`.
        package var debugData: String?
        /// An HTTP/2 error code. Default 0.
        package var code: Int?
        /// Whether the request that met the rule is still handled and answered; if not, it lies above the last stream
        /// that the GOAWAY names. Default true.
        package var handlesRequest: Bool?

        package init(reason: String? = nil, debugData: String? = nil, code: Int? = nil, handlesRequest: Bool? = nil) {
            self.reason = reason
            self.debugData = debugData
            self.code = code
            self.handlesRequest = handlesRequest
        }
    }

    package enum Moment: String, Codable, Sendable {
        /// The request is neither recorded nor answered.
        case beforeHandling
        /// The request is recorded as accepted, the client never hears of it.
        case afterHandling
    }

    // Which requests.
    package var provider: Provider
    /// APNs: only this host. Default: both.
    package var environment: APNSEnvironment?
    /// Only this device.
    package var token: String?
    /// So many requests that would match are let through first. Default 0.
    package var after: Int?
    /// The rule is used up after so many requests. Default: never.
    package var count: Int?
    /// The share of matching requests it meets, by the plan's own random numbers. Default 1.
    package var share: Double?

    // What happens. At least one of these; only the first of `answer` to `closeConnection` that is set counts.
    package var answer: Answer?
    /// The request is handled and recorded, the answer never comes.
    package var silence: Bool?
    /// The stream is reset with this HTTP/2 error code in place of an answer; the request is handled.
    package var resetStream: Int?
    /// With `resetStream`: the headers of a 200 go first.
    package var resetAfterHeaders: Bool?
    package var goaway: Goaway?
    /// A TCP reset.
    package var closeConnection: Moment?
    /// The connection's stream limit becomes this.
    package var streamLimit: Int?
    /// The answer's `date` header is off by this; makes APNs send one too.
    package var dateOffsetSeconds: Int?
    /// What comes, comes this much later.
    package var delayMilliseconds: Int?

    package init(
        _ provider: Provider, environment: APNSEnvironment? = nil, token: String? = nil, after: Int? = nil,
        count: Int? = nil, share: Double? = nil, answer: Answer? = nil, silence: Bool? = nil, resetStream: Int? = nil,
        resetAfterHeaders: Bool? = nil, goaway: Goaway? = nil, closeConnection: Moment? = nil,
        streamLimit: Int? = nil, dateOffsetSeconds: Int? = nil, delayMilliseconds: Int? = nil
    ) {
        self.provider = provider
        self.environment = environment
        self.token = token
        self.after = after
        self.count = count
        self.share = share
        self.answer = answer
        self.silence = silence
        self.resetStream = resetStream
        self.resetAfterHeaders = resetAfterHeaders
        self.goaway = goaway
        self.closeConnection = closeConnection
        self.streamLimit = streamLimit
        self.dateOffsetSeconds = dateOffsetSeconds
        self.delayMilliseconds = delayMilliseconds
    }

    /// Why the rule cannot be used, or nil.
    var fault: String? {
        let effects: [Bool] = [
            self.answer != nil, self.silence == true, self.resetStream != nil, self.goaway != nil,
            self.closeConnection != nil, self.streamLimit != nil, self.dateOffsetSeconds != nil,
            self.delayMilliseconds != nil,
        ]
        if !effects.contains(true) { return "a rule without an effect" }
        if let answer, !(200...599).contains(answer.status) { return "answer.status is not from 200 to 599" }
        if let share, !(0...1).contains(share) { return "share is not from 0 to 1" }
        if let count, count < 1 { return "count is less than 1" }
        if let after, after < 0 { return "after is less than 0" }
        if let resetStream, !(0...0xFFFF).contains(resetStream) { return "resetStream is not an HTTP/2 error code" }
        if let streamLimit, !(0...100_000).contains(streamLimit) { return "streamLimit is not from 0 to 100000" }
        if let delayMilliseconds, !(0...3_600_000).contains(delayMilliseconds) {
            return "delayMilliseconds is not from 0 to 3600000"
        }
        if self.environment != nil, self.provider != .apns { return "environment belongs to apns" }
        return nil
    }
}
