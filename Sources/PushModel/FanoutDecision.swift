/// What the rules said of a notification. A closed set; the raw values stand in `push.fanouts.decision`.
package enum FanoutDecision: String, CaseIterable, Sendable {
    case fannedOut = "fanned_out"
    case switchedOff = "switched_off"
    case coalesced
    case alreadyRead = "already_read"
    case ignored
    case noDevices = "no_devices"
    case unknownKind = "unknown_kind"
    case tooOld = "too_old"
    case gone
    /// A person called it off while it was in the outbox.
    case cancelled
}
