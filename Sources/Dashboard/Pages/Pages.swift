/// Every page, from a value to its HTML. Nothing here reads or writes anything.
///
/// Functions whose names end in `Parts` give what live values replace: the same markup as in the page, by the id of
/// the element whose content it is.
package enum Pages {}

/// The content of an element of a page, for the event `patch`.
package struct PagePart: Equatable, Sendable {
    package let id: String
    package let content: HTML
}

extension PagePart {
    /// The part in its place.
    func section(_ style: HTML = "box") -> HTML {
        "<section class=\"\(style)\" id=\"\(self.id)\">\(self.content)</section>\n"
    }
}
