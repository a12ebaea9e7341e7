import PushModel
import QueueInspection

/// Entries of the audit, as the activity page lists them and other pages show them beside what they touched.
enum Audit {
    /// Newest first, whatever the order of the list.
    static func beside(_ entries: [AuditEntry], _ context: PageContext) -> HTML {
        guard !entries.isEmpty else { return "<p class=\"quiet\">No operator has touched it.</p>\n" }
        let items = entries.sorted { $0.at > $1.at }.map { entry -> HTML in
            """
            <li class="\(self.tone(entry).rawValue)"><h3>\(self.verb(entry.action))</h3>
            <p class="quiet">\(entry.actor) · \(Parts.relative(entry.at, context))</p>
            \(self.note(entry))</li>

            """
        }
        return "<ol class=\"timeline\">\n\(items)</ol>\n"
    }

    static func table(_ entries: [AuditEntry], _ context: PageContext) -> HTML {
        Table(
            caption: "What operators did, latest first",
            columns: [
                .init(label: "When", style: .nowrap), .init(label: "Who"), .init(label: "What", style: .nowrap),
                .init(label: "To what"), .init(label: "Changed", style: .number), .init(label: "Note"),
            ],
            rows: entries.map { entry in
                Table.Row(cells: [
                    "\(Parts.relative(entry.at, context))<p class=\"quiet\">\(Format.dateAndTime(entry.at))</p>",
                    "\(entry.actor)", Parts.pill(self.verb(entry.action), self.tone(entry)), self.target(entry.target),
                    self.changed(entry), HTML(escaping: entry.note ?? ""),
                ])
            }
        ).html
    }

    static func verb(_ action: AuditEntry.Action) -> String {
        switch action {
        case .retry: "Retried"
        case .cancel: "Cancelled"
        case .pause: "Paused"
        case .resume: "Resumed"
        case .stop: "Stopped"
        case .prune: "Pruned"
        }
    }

    private static func tone(_ entry: AuditEntry) -> Parts.Tone {
        switch entry.action {
        case .retry, .resume: .good
        case .pause, .stop: .warn
        case .cancel, .prune: .bad
        }
    }

    private static func changed(_ entry: AuditEntry) -> HTML {
        switch entry.target {
        case .provider: .empty
        case .delivery, .notification, .history: "\(Format.number(entry.changed))"
        case .filter:
            "\(Format.number(entry.changed)) <p class=\"quiet\">of \(CappedCount(counted: entry.matched).description)</p>"
        }
    }

    private static func target(_ target: AuditEntry.Target) -> HTML {
        switch target {
        case .delivery(let id): return "Delivery \(Parts.link(id, to: .delivery(id)))"
        case .notification(let id): return "Notification \(Parts.link(id, to: .notification(id)))"
        case .provider(let name):
            return HTML(escaping: ProviderEndpoint(rawValue: name).map { Explanation.endpoint($0) } ?? name)
        case .filter(let filter, let bulk):
            let words = filter.pairs.map { pair -> HTML in
                "\(pair.name): \(Pages.filterValue(pair.name, pair.value))"
            }.joined(separator: ", ")
            return "All that match <a href=\"\(Route.bulk(bulk))\">\(words.isEmpty ? "everything" : words)</a>"
        case .history: return "The history"
        }
    }

    private static func note(_ entry: AuditEntry) -> HTML {
        let bulk: HTML =
            if case .filter(_, let id) = entry.target {
                "<p>With everything that <a href=\"\(Route.bulk(id))\">a filter</a> matched.</p>\n"
            } else {
                .empty
            }
        return bulk + (entry.note.map { "<p>\($0)</p>\n" } ?? .empty)
    }
}
