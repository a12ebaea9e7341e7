/// A button that changes something: a form of its own, which asks before it acts.
///
/// With the script the question is a dialog, and the form goes out with `confirmed=1`. Without it the form arrives
/// with `confirmed=0`, and the server answers with ``Pages/confirm(_:_:)``.
struct ActionForm {
    enum Style: String {
        case plain = ""
        case soft, danger
        /// Red words on paper: what it takes away it takes away only after the question.
        case softDanger = "soft danger"
    }

    var route: Route
    var label: String
    /// The question.
    var question: String
    /// What will happen, in one or two sentences.
    var effect: String
    var style = Style.plain
    var fields: [(name: String, value: String)] = []
    /// A line to fill in above the button.
    var line: Line?

    struct Line {
        var id: String
        var name: String
        var label: String
    }

    /// Nothing for those who may not act.
    func html(_ context: PageContext) -> HTML {
        guard context.mayAct else { return .empty }
        return """
            <form method="post" action="\(self.route)" data-confirm="\(self.question)" data-effect="\(self.effect)">\
            \(Self.csrf(context))<input type="hidden" name="confirmed" value="0">\(Self.hidden(self.fields))\
            \(self.line.map(Self.input))\
            <button\(Self.attribute(self.style))>\(self.label)</button></form>

            """
    }

    private static func input(_ line: Line) -> HTML {
        """
        <label for="\(line.id)">\(line.label)</label>\
        <input id="\(line.id)" name="\(line.name)" maxlength="200" required autocomplete="off">
        """
    }

    static func csrf(_ context: PageContext) -> HTML {
        #"<input type="hidden" name="csrf" value="\#(context.csrfToken)">"#
    }

    static func hidden(_ fields: [(name: String, value: String)]) -> HTML {
        fields.map { #"<input type="hidden" name="\#($0.name)" value="\#($0.value)">"# as HTML }.joined()
    }

    static func attribute(_ style: Style) -> HTML {
        style == .plain ? .empty : #" class="\#(style.rawValue)""#
    }
}
