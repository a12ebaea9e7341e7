import struct FoundationEssentials.UUID

/// Why an endpoint rests.
package enum PauseCause: String, CaseIterable, Sendable {
    case `operator`
    /// A key, topic, project or payload is wrong: somebody has to mend it.
    case configuration
    /// Nothing gets through: it is tried again by itself.
    case outage
    /// The provider asked for it.
    case retryAfter = "retry_after"
}

/// What is known of a pause: the same from our own answers and from `push.providers`.
package struct PauseNote: Equatable, Sendable {
    package var cause: PauseCause
    package var reason: String
    package var fix: String?
    /// An operator's name; nil where a worker found out.
    package var by: String?

    package init(cause: PauseCause, reason: String, fix: String? = nil, by: String? = nil) {
        self.cause = cause
        self.reason = reason
        self.fix = fix
        self.by = by
    }

    /// Reads what a pause is from how it is stored: workers sign with their id, and a provider's own wait has no fix.
    package init(reason: String, fix: String?, by name: String?) {
        let isOperators = name.map { UUID(uuidString: $0) == nil } ?? false
        let cause: PauseCause =
            if isOperators {
                .operator
            } else if fix == nil {
                .retryAfter
            } else if fix == EndpointBreaker.fixForOutage {
                .outage
            } else {
                .configuration
            }
        self.init(cause: cause, reason: reason, fix: fix, by: isOperators ? name : nil)
    }

    /// Where an endpoint frees no permit.
    package static let noAnswers = PauseNote(cause: .outage, reason: "no_answers", fix: EndpointBreaker.fixForOutage)
}
