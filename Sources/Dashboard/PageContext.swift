package import struct FoundationEssentials.Date

/// What every page is told besides its value.
package struct PageContext: Sendable {
    package enum Role: String, CaseIterable, Sendable {
        /// Looks.
        case viewer
        /// Looks and acts.
        case `operator`
    }

    /// Nil: not signed in.
    package var role: Role?
    /// Goes into the hidden field `csrf` of every form.
    package var csrfToken: String
    /// The moment the values were read; relative times count from it.
    package var now: Date
    /// A sentence above everything: the database is slow, or away.
    package var banner: String?
    /// What was just done, told once.
    package var notice: String?
    /// Whether names of people are shown; otherwise a mark stands in their place.
    package var showsNames: Bool

    package init(
        role: Role?, csrfToken: String, now: Date, banner: String? = nil, notice: String? = nil,
        showsNames: Bool = false
    ) {
        self.role = role
        self.csrfToken = csrfToken
        self.now = now
        self.banner = banner
        self.notice = notice
        self.showsNames = showsNames
    }

    var mayAct: Bool { self.role == .operator }
}
