import PushModel
package import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// The request of a delivery, built anew from the row: rendered texts are never stored.
package struct RebuiltRequest: Equatable, Sendable {
    /// Method, path, headers and body, with tokens and signatures masked by the caller. Nil: it cannot be built.
    package var text: String?
    /// Why there is none, or what of it may differ from what was sent: a sentence.
    package var note: String?

    package init(text: String?, note: String? = nil) {
        self.text = text
        self.note = note
    }
}

extension Pages {
    /// What became of one delivery, step by step.
    package static func delivery(_ timeline: DeliveryTimeline, request: RebuiltRequest, _ context: PageContext) -> HTML
    {
        let row = timeline.row
        return Layout(
            title: "Delivery \(row.id.text.prefix(8))", section: .deliveries,
            events: .events(Route.Query([("delivery", row.id.text)]))
        ).page(
            context,
            """
            \(self.outcome(timeline, context).section())\
            <div class="beside">
            <div class="stack">
            \(self.steps(timeline, context).section())\
            <section class="box" id="request">
            \(self.request(request, row, context))\
            </section>
            </div>
            <div class="stack">
            <section class="box">
            <h2>Which one</h2>
            \(self.facts(row))\
            </section>
            \(self.touched(timeline, context).section())\
            </div>
            </div>

            """)
    }

    /// Of ``delivery(_:request:_:)``. The first holds forms, so it differs by role and token.
    package static func deliveryParts(_ timeline: DeliveryTimeline, _ context: PageContext) -> [PagePart] {
        [self.outcome(timeline, context), self.steps(timeline, context), self.touched(timeline, context)]
    }

    // MARK: - Parts

    private static func outcome(_ timeline: DeliveryTimeline, _ context: PageContext) -> PagePart {
        let row = timeline.row
        let advice = row.state == .discarded ? row.reason.flatMap { Explanation.reason(named: $0).advice } : nil
        let retry = ActionForm(
            route: .retry(row.id), label: row.state == .available ? "Try now" : "Retry",
            question: row.state == .available ? "Try this delivery now?" : "Retry this delivery?",
            effect:
                "It is sent under the same ids, so a phone that showed it already shows it once. If it was read or switched off meanwhile, it is not pushed."
        )
        let cancel = ActionForm(
            route: .cancel(row.id), label: "Cancel", question: "Cancel this delivery?",
            effect: "It is ended and not pushed. The notification stays in the app’s list.", style: .softDanger)
        let actions = self.actions(
            HTML.when(timeline.may.retry, retry.html(context)), HTML.when(timeline.may.cancel, cancel.html(context)))
        return PagePart(
            id: "outcome",
            content: """
                <div class="head"><h2>What became of it</h2>\(Parts.pill(row.state))</div>
                <p>\(self.sentence(timeline.summary))</p>
                \(advice.map(self.whatToDo))\(actions)
                """)
    }

    private static func steps(_ timeline: DeliveryTimeline, _ context: PageContext) -> PagePart {
        var items: [HTML] = []
        if let decision = timeline.decision {
            items.append(self.step(decision))
        } else {
            items.append(
                self.item(
                    .still, "Decision", at: nil,
                    "<p>Its decision is no longer, or not yet, in the history.</p>\n"))
        }
        items += timeline.attempts.map(self.step)
        if let waiting = timeline.waiting {
            items.append(self.step(waiting, context))
        } else if let batch = timeline.batch, !timeline.row.state.isFinal {
            items.append(
                self.item(
                    .busy, "In a worker’s hands", at: batch.openedAt,
                    """
                    <p>Worker <span class="id">\(batch.workerID.text.prefix(8))</span> holds it until \
                    \(Parts.moment(batch.leasedUntil)); if the worker is lost, another takes over then.</p>
                    \(HTML.when(batch.rescues > 0, "<p class=\"quiet\">Rescued \(Format.count(batch.rescues, "time", "times")) from lost workers.</p>\n"))
                    """))
        }
        return PagePart(id: "steps", content: "<h2>Step by step</h2>\n<ol class=\"timeline\">\n\(items)</ol>")
    }

    private static func touched(_ timeline: DeliveryTimeline, _ context: PageContext) -> PagePart {
        PagePart(id: "touched", content: "<h2>Operators’ actions</h2>\n\(Audit.beside(timeline.audit, context))")
    }

    // MARK: - Steps

    private static func item(_ tone: Parts.Tone, _ title: HTML, at date: Date?, _ content: HTML) -> HTML {
        """
        <li class="\(tone.rawValue)"><h3>\(title) \(date.map { "<span class=\"quiet\">\(Parts.precise($0))</span>" as HTML })</h3>
        \(content)</li>

        """
    }

    private static func step(_ decision: DecisionRecord) -> HTML {
        let explanation = Explanation.decision(named: decision.decision)
        return self.item(
            decision.decision == FanoutDecision.fannedOut.rawValue ? .good : .still,
            "Decided: \(explanation.title)", at: decision.decidedAt,
            """
            <p>\(self.sentence(decision.explanation))</p>
            <p class="quiet">By worker <span class="id">\(decision.workerID.text.prefix(8))</span>, for \
            \(Format.count(decision.deliveries, "device", "devices")). It came by \
            \(Explanation.origin(named: decision.origin).title.lowercased()).</p>

            """)
    }

    private static func step(_ attempt: AttemptRecord) -> HTML {
        let outcome = Explanation.outcome(named: attempt.outcome)
        let isTry = attempt.number > 0 && attempt.outcome != "retried"
        let title: HTML = isTry ? "Try \(attempt.number): \(outcome.title)" : "\(outcome.title)"
        var facts: [HTML] = []
        if let status = attempt.status { facts.append("status \(status)") }
        if attempt.outcome != "retried", let word = attempt.reason { facts.append("<code>\(word)</code>") }
        if let milliseconds = attempt.milliseconds {
            facts.append("answered in \(Format.duration(seconds: Double(milliseconds) / 1000))")
        }
        if let id = attempt.providerID { facts.append("the provider calls it <code>\(id)</code>") }
        if attempt.outcome != "retried" {
            facts.append("worker <span class=\"id\">\(attempt.workerID.text.prefix(8))</span>")
        }
        // The word of a retry is that of an end by an operator, and its explanation says all.
        let reason = attempt.outcome == "retried" ? nil : attempt.reason.map { Explanation.reason(named: $0) }
        // What to do about the end is told above.
        let advice = attempt.state.isFinal ? nil : reason?.advice
        return self.item(
            self.tone(attempt), title, at: attempt.finishedAt,
            """
            <p>\(self.sentence(attempt.explanation))</p>
            \(reason.map { "<p>\($0.meaning)</p>\n" as HTML })\(advice.map(self.whatToDo))\
            \(HTML.when(!facts.isEmpty, "<p class=\"quiet\">\(facts.joined(separator: " · "))</p>\n"))

            """)
    }

    private static func step(_ waiting: WaitingRecord, _ context: PageContext) -> HTML {
        let title: HTML = waiting.isLeased ? "Being tried" : "Waits for its next try"
        let due: HTML =
            waiting.isLeased
            ? "A worker has it until \(Parts.moment(waiting.scheduledAt))."
            : Parts.waitsForResume(waiting.reason)
                ? "It goes when the provider is resumed."
                : "Due \(Parts.relative(waiting.scheduledAt, context)), at \(Parts.moment(waiting.scheduledAt))."
        return self.item(
            waiting.isLeased ? .busy : .warn, title, at: nil,
            """
            <p>\(due) Given up at \(Parts.moment(waiting.expiresAt)) if nothing is accepted by then.</p>
            <p class="quiet">For \(Explanation.endpoint(waiting.endpoint)) · \(Parts.reason(waiting.reason))</p>

            """)
    }

    private static func tone(_ attempt: AttemptRecord) -> Parts.Tone {
        switch attempt.state {
        case .accepted: .good
        case .discarded: .bad
        case .cancelled: .still
        case .available: attempt.outcome == "retried" ? .busy : .warn
        case .running: .busy
        }
    }

    // MARK: - Beside

    private static func facts(_ row: DeliveryRow) -> HTML {
        Parts.facts([
            ("Delivery", Parts.id(row.id, called: "delivery")),
            (
                "Notification",
                Parts.id(row.notificationID, called: "notification", to: .notification(row.notificationID))
            ),
            (
                "Account",
                row.accountID.map {
                    Parts.id($0, called: "account", to: .deliveries(Route.Query([("account", $0.text)])))
                } ?? "gone"
            ),
            (
                "Device",
                Parts.id(
                    row.deviceID, called: "device", to: .deliveries(Route.Query([("device", row.deviceID.text)])))
            ),
            ("Platform", Parts.platform(row.platform)), ("Kind", Parts.kind(row.kind)),
            ("Tries", "\(row.attempt)"),
        ])
    }

    private static func request(_ request: RebuiltRequest, _ row: DeliveryRow, _ context: PageContext) -> HTML {
        let names: HTML = HTML.when(
            context.mayAct, self.nameSwitch(context) { Route.delivery(row.id, $0) })
        guard let text = request.text else {
            return """
                <h2>The request</h2>
                <p class="quiet">\(request.note ?? "It cannot be built: the notification or the device is gone.")</p>

                """
        }
        return """
            <div class="head"><h2>The request</h2>\(names)</div>
            <p class="quiet">Built anew from the rows as they are now: texts are never stored, so words, language \
            and badge may differ from what was sent. Tokens and signatures are masked.\(request.note.map { " \($0)" as HTML })</p>
            <pre tabindex="0" role="region" aria-label="The request">\(text)</pre>

            """
    }

    /// A link that shows names of people, or hides them again.
    static func nameSwitch(_ context: PageContext, _ route: (Route.Query) -> Route) -> HTML {
        context.showsNames
            ? #"<a class="quiet end" href="\#(route(Route.Query()))">Hide names</a>"#
            : #"<a class="quiet end" href="\#(route(Route.Query([("names", "1")])))">Show names</a>"#
    }

    static func whatToDo(_ advice: String) -> HTML {
        "<p class=\"quiet\"><strong>What to do:</strong> \(advice)</p>\n"
    }

    /// With a full stop, once.
    static func sentence(_ text: String) -> String {
        guard let last = text.last, !".!?…".contains(last) else { return text }
        return text + "."
    }
}
