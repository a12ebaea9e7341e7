package import QueueInspection

extension Pages {
    /// What operators did.
    ///
    /// - Parameter isFirst: whether it is the newest page; on others a link leads back.
    package static func activity(_ page: AuditPage, isFirst: Bool = true, _ context: PageContext) -> HTML {
        let next = page.next.map { cursor -> HTML in
            let query = Route.Query([("cursor", cursor.description)])
            return #"<a class="button soft" rel="next" href="\#(Route.activity(query))">Older →</a>"#
        }
        let first: HTML =
            isFirst ? "<span></span>" : #"<a class="button soft" href="\#(Route.activity())">← Latest</a>"#
        let turning: HTML? =
            next == nil && isFirst ? nil : "<nav class=\"pages\" aria-label=\"More activity\">\(first)\(next)</nav>\n"
        return Layout(
            title: "Activity", section: .activity,
            aside: #"<p class="quiet">Every action of an operator, by page, command or API</p>"#
        ).page(
            context,
            """
            <section class="box" aria-label="Actions">
            \(page.entries.isEmpty ? "<p>No operator has done anything yet.</p>\n" : Audit.table(page.entries, context))\
            \(turning)\
            </section>

            """)
    }
}
