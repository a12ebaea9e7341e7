package import PushModel

/// A text that may differ by how the actor is spoken of.
package struct PronounForms: Equatable, Sendable {
    package var neutral: Template
    package var she: Template?
    package var he: Template?

    package init(neutral: Template, she: Template? = nil, he: Template? = nil) {
        self.neutral = neutral
        self.she = she
        self.he = he
    }

    /// The form for a pronoun; the neutral one where the language has no other.
    package func form(for pronoun: Pronoun) -> Template {
        switch pronoun {
        case .she: self.she ?? self.neutral
        case .he: self.he ?? self.neutral
        case .neutral: self.neutral
        }
    }
}
