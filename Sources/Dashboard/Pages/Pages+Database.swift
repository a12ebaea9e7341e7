package import QueueInspection

import struct FoundationEssentials.Date

extension Pages {
    /// What may slow the queue down, and who is behind it.
    package static func database(_ health: DatabaseHealth, _ context: PageContext) -> HTML {
        let findings = DatabaseFindings(health: health).all
        let style: HTML =
            findings.contains { $0.tone == .bad }
            ? "box attention troubled"
            : findings.contains { $0.tone == .warn } ? "box attention watchful" : "box attention"
        let order: [Parts.Tone] = [.bad, .warn, .good]
        let items = order.flatMap { tone in findings.filter { $0.tone == tone } }.map(self.finding)
        return Layout(
            title: "Database", section: .database,
            aside:
                #"<p class="quiet">PostgreSQL \#(health.serverVersion.prefix { $0 != " " }), \#(health.role == .primary ? "primary" : "standby"), read \#(Parts.relative(health.readAt, context))</p>"#
        ).page(
            context,
            """
            <section class="\(style)">
            <h2>In words</h2>
            <ul>
            \(items)</ul>
            </section>
            <section class="box">
            <h2>Open transactions, oldest first</h2>
            \(self.transactions(health))\
            </section>
            \(HTML.when(!health.horizon.isEmpty, self.horizon(health.horizon)))\
            <div class="grid wide">
            <section class="box">
            <h2>Tables of the queue</h2>
            <div class="scroll" tabindex="0" role="region" aria-label="Tables of the queue">
            \(self.tables(health.tables, context))\
            </div>
            </section>
            <section class="box">
            <h2>How a claim reads</h2>
            <p>It took \(Format.duration(seconds: health.claim.milliseconds / 1000)), run once without locking anything.</p>
            <pre tabindex="0" role="region" aria-label="Plan of the claim">\(health.claim.lines.joined(separator: "\n"))</pre>
            </section>
            </div>
            <section class="box">
            <h2>Partitions of the history, with about how many rows</h2>
            \(self.partitions(health.partitions))\
            </section>

            """)
    }

    private static func finding(_ finding: DatabaseFindings.Finding) -> HTML {
        let word =
            switch finding.tone {
            case .bad: "Act"
            case .warn: "Watch"
            case .good, .busy: "Fine"
            case .still: "Unknown"
            }
        return """
            <li><p>\(Parts.pill(word, finding.tone)) \(finding.sentence)</p>
            \(finding.advice.map { "<p class=\"quiet\">\($0)</p>" as HTML })</li>

            """
    }

    private static func transactions(_ health: DatabaseHealth) -> HTML {
        guard !health.transactions.isEmpty else { return "<p>None.</p>\n" }
        return Table(
            caption: "Open transactions",
            columns: [
                .init(label: "Pid"), .init(label: "Open for", style: .nowrap), .init(label: "Application"),
                .init(label: "Role"), .init(label: "State"), .init(label: "Waits for"), .init(label: "Statement"),
            ],
            rows: health.transactions.map { transaction in
                Table.Row(cells: [
                    "\(transaction.pid)",
                    transaction.seconds < DatabaseFindings.longTransaction
                        ? "\(Format.duration(seconds: transaction.seconds))"
                        : Parts.pill(
                            Format.duration(seconds: transaction.seconds),
                            transaction.seconds < DatabaseFindings.veryLongTransaction ? .warn : .bad),
                    "\(transaction.application)", "\(transaction.role)", "\(transaction.state)",
                    "\(transaction.waitsFor ?? "")", "<code>\(transaction.query)</code>",
                ])
            }
        ).html
    }

    private static func horizon(_ holders: [HorizonHolder]) -> HTML {
        """
        <section class="box">
        <h2>Who keeps dead rows alive, worst first</h2>
        \(Table(
            caption: "Holders of old row versions",
            columns: [
                .init(label: "Holder"), .init(label: "Kind"), .init(label: "Behind by", style: .number),
                .init(label: "For", style: .number), .init(label: "What to do"),
            ],
            rows: holders.map { holder in
                Table.Row(cells: [
                    "\(holder.name)", "\(holder.kind.rawValue)", "\(Format.number(holder.transactionsBehind))",
                    holder.seconds.map { "\(Format.duration(seconds: $0))" } ?? .empty, "\(holder.fix)",
                ])
            }
        ).html)\
        </section>

        """
    }

    private static func tables(_ tables: [TableHealth], _ context: PageContext) -> HTML {
        Table(
            caption: "Tables of the queue",
            columns: [
                .init(label: "Table"), .init(label: "Rows", style: .number), .init(label: "Dead", style: .number),
                .init(label: "Size", style: .number), .init(label: "Vacuumed", style: .nowrap),
            ],
            rows: tables.map { table in
                Table.Row(cells: [
                    "<code>\(table.name)</code>", "\(Format.number(table.liveRows))",
                    "\(Format.number(table.deadRows))", "\(Format.bytes(table.bytes))",
                    table.lastVacuum.map { Parts.relative($0, context) } ?? "never",
                ])
            }, isNarrow: true
        ).html
    }

    private static func partitions(_ partitions: [Partition]) -> HTML {
        guard !partitions.isEmpty else { return "<p>None.</p>\n" }
        let tables = Set(partitions.map(\.table)).sorted()
        let days = Dictionary(grouping: partitions, by: \.day).sorted { $0.key > $1.key }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Partitions">
            \(Table(
                caption: "Partitions, latest first",
                columns: [.init(label: "Day", style: .nowrap)]
                    + tables.map { .init(label: "\($0)", style: .number) }
                    + [.init(label: "Size of all", style: .number)],
                rows: days.map { day, parts in
                    Table.Row(
                        cells: [HTML(escaping: Format.day(day))]
                            + tables.map { table in
                                parts.first { $0.table == table }.map { "\(Format.number($0.rows))" } ?? "missing"
                            } + ["\(Format.bytes(parts.reduce(0) { $0 + $1.bytes }))"])
                }, isNarrow: true
            ).html)\
            </div>

            """
    }
}
