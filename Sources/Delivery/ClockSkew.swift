package import HTTPTransport
import PushModel

package import struct FoundationEssentials.Date

/// How far this machine's clock is from a provider's: what makes good keys look bad.
package enum ClockSkew {
    /// Clocks further apart than this spoil signatures sooner or later.
    private static let tolerance = 30.0

    /// What to say about an answer's `date` header; nil when there is none, or when it agrees with `now`.
    package static func finding(_ answer: HTTPAnswer, now: Date) -> String? {
        guard let text = answer.headers["date"], let theirs = HTTPDate.parse(text, now: now) else { return nil }
        let skew = now.timeIntervalSince(theirs)
        guard abs(skew) > Self.tolerance else { return nil }
        return "this machine's clock is \(Int(abs(skew))) s \(skew > 0 ? "ahead of" : "behind") the provider's"
    }
}
