import PushModel
package import QueueInspection

extension Pages {
    /// How far a bulk action has come.
    package static func bulk(_ action: BulkAction, _ context: PageContext) -> HTML {
        Layout(
            title: self.title(action), section: .deliveries,
            events: action.state.isOver ? nil : .events(Route.Query([("bulk", action.id.text)])),
            reloads: !action.state.isOver, isNarrow: true
        ).page(
            context,
            """
            \(self.bulkParts(action, context).map { $0.section() })\
            <section class="box">
            <h2>The filter</h2>
            \(self.filterFacts(action.filter))\
            <p class="quiet"><a href="\(Route.deliveries(Route.Query(action.filter.pairs)))">See what matches now</a> · \
            <a href="\(Route.activity())">Activity</a></p>
            </section>

            """)
    }

    /// Of ``bulk(_:_:)``. Holds the form that stops it, so it differs by role and token.
    package static func bulkParts(_ action: BulkAction, _ context: PageContext) -> [PagePart] {
        let refused = action.done - action.changed
        let (words, tone) = self.words(action.state)
        let stop = ActionForm(
            route: .stopBulk(action.id), label: "Stop", question: "Stop it?",
            effect: "It stops after the slice under way. What was changed stays changed; nothing is undone.",
            style: .softDanger)
        return [
            PagePart(
                id: "bulk",
                content: """
                    <div class="head"><h2>Progress</h2>\(Parts.pill(words, tone))</div>
                    \(self.progress(action))\
                    <dl class="figures">
                    <div><dt>Matched at the start</dt><dd>\(action.matched.description)</dd></div>
                    <div><dt>Looked at</dt><dd>\(Format.number(action.done))</dd></div>
                    <div><dt>Changed</dt><dd>\(Format.number(action.changed))</dd></div>
                    <div><dt>Left as they were</dt><dd>\(Format.number(refused))</dd></div>
                    </dl>
                    \(HTML.when(refused > 0, "<p class=\"quiet\">Left as they were: those that had changed by themselves, that a worker held, or that cannot be sent any more: read or deleted meanwhile, or their token is dead.</p>\n"))\
                    \(HTML.when(action.error != nil, "<p class=\"fault\">\(action.error ?? "")</p>\n"))\
                    <p class="quiet">Begun by \(action.actor) \(Parts.relative(action.startedAt, context)), \
                    last seen to move \(Parts.relative(action.updatedAt, context)).</p>
                    \(HTML.when(action.state == .running, self.actions(stop.html(context))))
                    """)
        ]
    }

    private static func progress(_ action: BulkAction) -> HTML {
        let most = max(action.matched.value, action.done, 1)
        if action.state.isOver || !action.matched.isCapped || action.done > action.matched.value {
            let words = "\(Format.number(action.done)) of \(action.matched)"
            return """
                <progress id="bulk-progress" max="\(most)" value="\(action.state == .finished ? most : action.done)" \
                aria-label="Looked at">\(words)</progress>

                """
        }
        return
            "<progress id=\"bulk-progress\" max=\"\(most)\" value=\"\(action.done)\" aria-label=\"Looked at, of \(action.matched.description)\"></progress>\n"
    }

    private static func title(_ action: BulkAction) -> String {
        switch action.action {
        case .retry: "Retrying everything that matched"
        case .cancel: "Cancelling everything that matched"
        case .pause, .resume, .stop, .prune: "\(Audit.verb(action.action)) everything that matched"
        }
    }

    private static func words(_ state: BulkAction.State) -> (String, Parts.Tone) {
        switch state {
        case .running: ("Running", .busy)
        case .stopping: ("Stopping", .warn)
        case .stopped: ("Stopped", .still)
        case .finished: ("Finished", .good)
        case .failed: ("Failed", .bad)
        }
    }
}
