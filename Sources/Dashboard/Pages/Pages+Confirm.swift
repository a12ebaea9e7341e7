import PushModel
package import QueueInspection

/// A question before something is done.
package struct Confirmation: Sendable {
    /// "Retry this delivery?"
    package var question: String
    /// What will happen, a sentence each.
    package var effects: [String]
    /// Where the answer goes, with `confirmed=1`.
    package var route: Route
    /// What else the form has to carry.
    package var fields: [(name: String, value: String)]
    /// On the button: the action itself, not "OK".
    package var label: String
    /// Whether it takes something away that a click does not bring back.
    package var isDestructive: Bool
    /// Where "leave it" leads.
    package var back: Route

    package init(
        question: String, effects: [String], route: Route, fields: [(name: String, value: String)] = [],
        label: String, isDestructive: Bool = false, back: Route
    ) {
        self.question = question
        self.effects = effects
        self.route = route
        self.fields = fields
        self.label = label
        self.isDestructive = isDestructive
        self.back = back
    }
}

extension Pages {
    /// The question that the script would have asked in a dialog, as a page.
    package static func confirm(_ confirmation: Confirmation, _ context: PageContext) -> HTML {
        Layout(title: confirmation.question, isNarrow: true).page(
            context,
            """
            <section class="box">
            \(confirmation.effects.map { "<p>\($0)</p>\n" as HTML })\
            \(self.answer(confirmation, context))\
            </section>

            """)
    }

    /// Counts what a filter matches before anything is done to it.
    ///
    /// - Parameters:
    ///   - filter: narrowed to the state that the action is about.
    ///   - matched: what it matches now.
    ///   - fault: why it was not begun, if it was tried: another one runs, say.
    package static func confirmBulk(
        _ kind: Route.BulkKind, _ filter: DeliveryFilter, matched: CappedCount, fault: String? = nil,
        _ context: PageContext
    ) -> HTML {
        let query = Route.Query(filter.pairs)
        let many = matched.value == 1 && !matched.isCapped ? "1 delivery" : "\(matched) deliveries"
        let verb = kind == .retry ? "Retry" : "Cancel"
        var effects: [String]
        switch (kind, filter.state) {
        case (.retry, .available):
            effects = ["They wait; each becomes due at once."]
        case (.retry, _):
            effects = [
                "They are tried again under the same ids, so a phone that showed one already shows it once.",
                "What meanwhile was read, switched off or deleted is not pushed.",
            ]
        case (.cancel, _):
            effects = [
                "They wait for another try; each is ended and not pushed. What a worker holds at this moment goes out."
            ]
        }
        effects.append(
            "It goes in slices of 1,000, is written down in the activity under your role, and can be stopped.")
        let body: HTML
        if matched.value == 0 {
            body = """
                <p>Nothing matches this filter now, so there is nothing to \(kind.rawValue).</p>
                <div class="actions"><a class="button soft" href="\(Route.deliveries(query))">Back to the list</a></div>

                """
        } else {
            body = """
                <dl class="figures"><div><dt>Matched now</dt><dd>\(matched.description)</dd></div></dl>
                \(effects.map { "<p>\($0)</p>\n" as HTML })\
                \(HTML.when(fault != nil, "<p class=\"fault\" role=\"alert\">\(fault ?? "")</p>\n"))\
                \(self.answer(Confirmation(
                    question: "", effects: [], route: .bulkStart(kind), fields: filter.pairs, label: "\(verb) \(many)",
                    isDestructive: kind == .cancel, back: .deliveries(query)), context))
                """
        }
        return Layout(title: "\(verb) everything that matches?", section: .deliveries, isNarrow: true).page(
            context,
            """
            <section class="box">
            <h2>The filter</h2>
            \(self.filterFacts(filter))\
            </section>
            <section class="box">
            <h2>What will happen</h2>
            \(body)\
            </section>

            """)
    }

    private static func answer(_ confirmation: Confirmation, _ context: PageContext) -> HTML {
        guard context.mayAct else {
            return #"<p class="fault">Only the operator’s token may do this.</p>"#
        }
        return """
            <form method="post" action="\(confirmation.route)">\(ActionForm.csrf(context))\
            <input type="hidden" name="confirmed" value="1">\(ActionForm.hidden(confirmation.fields))\
            <div class="actions"><button\(ActionForm.attribute(confirmation.isDestructive ? .danger : .plain))>\
            \(confirmation.label)</button>
            <a class="button soft" href="\(confirmation.back)">Leave it</a></div></form>

            """
    }
}
