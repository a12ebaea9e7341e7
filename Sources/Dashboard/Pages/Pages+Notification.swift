import PushModel
package import QueueInspection

extension Pages {
    /// For every phone of the account: why it did or did not buzz.
    ///
    /// - Parameter actorName: who did it, from the row; shown only where `showsNames` says so.
    package static func notification(_ view: NotificationView, actorName: String? = nil, _ context: PageContext) -> HTML
    {
        Layout(title: "Notification \(view.id.text.prefix(8))", section: .deliveries).page(
            context,
            """
            \(self.why(view, context))\
            <section class="box">
            <h2>Each device</h2>
            \(self.devices(view, context))\
            <p class="quiet"><a href="\(Route.deliveries(Route.Query([("notification", view.id.text)])))">Its deliveries as a list</a></p>
            </section>
            <div class="beside">
            <section class="box">
            <div class="head"><h2>The row</h2>\(HTML.when(context.mayAct, self.nameSwitch(context) { .notification(view.id, $0) }))</div>
            \(self.facts(view, actorName: actorName, context))\
            </section>
            <section class="box">
            <h2>Operators’ actions</h2>
            \(Audit.beside(view.audit, context))\
            </section>
            </div>

            """)
    }

    private static func why(_ view: NotificationView, _ context: PageContext) -> HTML {
        let decision = view.decision.map { Explanation.decision(named: $0.decision) }
        let isPushed = view.decision?.decision == FanoutDecision.fannedOut.rawValue
        let pill: HTML =
            if let decision {
                Parts.pill(decision.title, isPushed ? .good : .still)
            } else if view.batch != nil {
                Parts.pill("In a worker’s hands", .busy)
            } else if view.outbox != nil {
                Parts.pill("Waiting", .warn)
            } else {
                Parts.pill("No decision", .still)
            }
        let decided = view.decision.map { record -> HTML in
            """
            <p class="quiet">Decided \(Parts.moment(record.decidedAt)) (\(Parts.relative(record.decidedAt, context))). \
            \(Explanation.origin(named: record.origin).meaning)</p>

            """
        }
        let queued = view.outbox.map { outbox -> HTML in
            let rescues: HTML = HTML.when(
                outbox.rescues > 0, " Rescued \(Format.count(outbox.rescues, "time", "times")) from lost workers.")
            return """
                <p class="quiet">In the queue since \(Parts.moment(outbox.enqueuedAt)) \
                (\(Parts.relative(outbox.enqueuedAt, context))), lane \
                \(Lane(rawValue: outbox.lane).map { Explanation.lane($0).title.lowercased() } ?? "\(outbox.lane)").\(rescues)</p>

                """
        }
        let explanation = view.decision.map { "<p>\(self.sentence($0.explanation))</p>\n" as HTML }
        let cancel = ActionForm(
            route: .cancel(view.id), label: "Cancel", question: "Cancel this notification’s pushes?",
            effect: "What waits of it is ended and not pushed. The notification stays in the app’s list.",
            style: .softDanger)
        return """
            <section class="box">
            <div class="head"><h2>Why</h2>\(pill)</div>
            <p><strong>\(self.sentence(view.summary))</strong></p>
            \(HTML.when(view.decision?.explanation != view.summary, explanation ?? .empty))\
            \(decision?.advice.map(self.whatToDo))\
            \(decided)\(queued)\(HTML.when(view.mayCancel, self.actions(cancel.html(context))))\
            </section>

            """
    }

    private static func devices(_ view: NotificationView, _ context: PageContext) -> HTML {
        guard !view.devices.isEmpty else { return "<p>The account has no devices.</p>\n" }
        return Table(
            caption: "Devices of the account",
            columns: [
                .init(label: "Device", style: .nowrap), .init(label: "Did it buzz?", style: .nowrap),
                .init(label: "Why"), .init(label: "Platform"), .init(label: "Language"),
                .init(label: "Token"), .init(label: "Delivery", style: .nowrap),
            ],
            rows: view.devices.map { verdict in
                let platform = verdict.device?.platform ?? verdict.delivery?.platform?.rawValue
                let advice = verdict.delivery.flatMap { row in
                    row.state == .discarded ? row.reason.flatMap { Explanation.reason(named: $0).advice } : nil
                }
                return Table.Row(cells: [
                    Parts.link(
                        verdict.deviceID, to: .deliveries(Route.Query([("device", verdict.deviceID.text)]))),
                    self.answer(verdict.buzzed),
                    """
                    \(self.sentence(verdict.explanation))\
                    \(advice.map(self.whatToDo))
                    """,
                    HTML(
                        escaping: platform.map { Platform(rawValue: $0).map { Explanation.platform($0) } ?? $0 } ?? ""),
                    HTML(escaping: verdict.device?.locale ?? ""), self.token(verdict.device, context),
                    verdict.delivery.map { Parts.link($0.id, to: .delivery($0.id)) } ?? "none",
                ])
            }
        ).html
    }

    private static func answer(_ answer: DeviceVerdict.Answer) -> HTML {
        switch answer {
        case .yes: Parts.pill("Accepted", .good)
        case .no: Parts.pill("No", .bad)
        case .notYet: Parts.pill("Not yet", .warn)
        }
    }

    private static func token(_ device: DeviceRow?, _ context: PageContext) -> HTML {
        guard let device else { return "row gone" }
        guard device.hasToken else { return "none" }
        if let since = device.tokenInvalidatedAt {
            return "marked dead \(Parts.relative(since, context)): \(Parts.reason(device.tokenInvalidReason))"
        }
        let registered = device.tokenUpdatedAt.map { "registered \(Parts.relative($0, context))" as HTML } ?? "there"
        return device.platform == Platform.ios.rawValue ? "\(registered), \(device.environment)" : registered
    }

    private static func facts(_ view: NotificationView, actorName: String?, _ context: PageContext) -> HTML {
        guard let row = view.row else {
            return Parts.facts([
                ("Notification", Parts.id(view.id, called: "notification")), ("Row", "deleted by the app"),
            ])
        }
        let actor: HTML =
            context.showsNames
            ? actorName.map { "<bdi>\($0)</bdi>" } ?? "nobody"
            : #"<span class="quiet">hidden</span>"#
        return Parts.facts([
            ("Notification", Parts.id(view.id, called: "notification")),
            (
                "Account",
                Parts.id(
                    row.accountID, called: "account", to: .deliveries(Route.Query([("account", row.accountID.text)])))
            ),
            ("Kind", Parts.kind(row.kind)), ("By", actor),
            ("Connection", row.connectionID.map { Parts.id($0, called: "connection") } ?? .empty),
            ("Created", "\(Parts.moment(row.createdAt)) (\(Parts.relative(row.createdAt, context)))"),
            ("Read", row.readAt.map { Parts.moment($0) } ?? "not yet"),
            ("Ignored", row.ignoredAt.map { Parts.moment($0) } ?? .empty),
        ])
    }
}
