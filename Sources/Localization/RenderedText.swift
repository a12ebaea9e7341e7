/// The words of one notification in one language, ready for a payload: clean, but not yet cut to its size.
package struct RenderedText: Equatable, Sendable {
    /// One line, never empty.
    package var title: String
    /// Nil: the kind has none.
    package var body: String?

    package init(title: String, body: String?) {
        self.title = title
        self.body = body
    }
}
