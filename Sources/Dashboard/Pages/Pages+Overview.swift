import PushModel
package import QueueInspection

import struct FoundationEssentials.Date

extension Pages {
    /// What waits, how fast it goes, and what needs a person.
    package static func overview(_ overview: Overview, _ context: PageContext) -> HTML {
        let findings = Attention.findings(in: overview)
        let worst = findings.map(\.severity).min()
        let style: HTML =
            switch worst {
            case .trouble: "box attention troubled"
            case .watch: "box attention watchful"
            case nil: "box attention"
            }
        return Layout(
            title: "Overview", section: .overview, events: .events(Route.Query([("overview", "1")]))
        ).page(
            context,
            """
            \(self.attention(findings).section(style))\
            \(self.figures(overview).section())\
            \(self.hour(overview).section())\
            <div class="grid wide">
            \(self.lanes(overview).section())\
            \(self.endpoints(overview).section())\
            </div>
            <h2>Providers</h2>
            <div class="grid">
            \(overview.providers.map { self.provider($0, overview, context).section() })\
            </div>
            \(self.workers(overview, context).section())
            """)
    }

    /// Of ``overview(_:_:)``. Those of providers hold forms, so they differ by role and token.
    package static func overviewParts(_ overview: Overview, _ context: PageContext) -> [PagePart] {
        [
            self.attention(Attention.findings(in: overview)), self.figures(overview), self.hour(overview),
            self.lanes(overview), self.endpoints(overview), self.workers(overview, context),
        ] + overview.providers.map { self.provider($0, overview, context) }
    }

    // MARK: - Attention

    private static func attention(_ findings: [Attention]) -> PagePart {
        guard !findings.isEmpty else {
            return PagePart(
                id: "attention",
                content: """
                    <h2>Nothing needs you</h2>
                    <p>Workers are running, every provider is open, and nothing has waited long.</p>
                    """)
        }
        let items = findings.map { finding -> HTML in
            let look = finding.look.map { #" <a href="\#($0.route)">\#($0.label)</a>"# as HTML }
            let tone: Parts.Tone = finding.severity == .trouble ? .bad : .warn
            return """
                <li><p>\(Parts.pill(finding.severity == .trouble ? "Act" : "Watch", tone)) <strong>\(finding.sentence)</strong></p>
                <p class="quiet">\(finding.advice)\(look)</p></li>

                """
        }
        return PagePart(id: "attention", content: "<h2>What needs you</h2>\n<ul>\n\(items)</ul>\n")
    }

    // MARK: - Figures

    private static func figures(_ overview: Overview) -> PagePart {
        let full = overview.series.minutes.dropLast()
        let accepted = overview.series.minutes.reduce(0) { $0 + $1.accepted }
        let recent = full.suffix(5)
        let pace = recent.isEmpty ? 0 : recent.reduce(0) { $0 + $1.accepted } / recent.count
        let oldest = overview.oldestWaitingSeconds
        let tone: HTML =
            switch oldest ?? 0 {
            case ...Attention.slow: .empty
            case ...Attention.stuck: #" class="warn""#
            default: #" class="bad""#
            }
        return PagePart(
            id: "figures",
            content: """
                <h2 class="unseen">In figures</h2>
                <dl class="figures">
                <div><dt>Waiting</dt><dd>\(self.sum(overview.lanes.map(\.count)))</dd></div>
                <div><dt>Oldest waiting</dt><dd\(tone)>\(oldest.map { Format.duration(seconds: $0) } ?? "–")</dd></div>
                <div><dt>In workers’ hands</dt><dd>\(Format.number(overview.running))</dd></div>
                <div><dt>To be tried again</dt><dd>\(self.sum(overview.endpoints.map(\.count)))</dd></div>
                <div><dt>Accepted this hour</dt><dd>\(Format.number(accepted))</dd></div>
                <div><dt>Pace, last 5 minutes</dt><dd>\(Format.number(pace)) <small>a minute</small></dd></div>
                </dl>
                """)
    }

    /// Counts that are capped themselves add up to one that is.
    private static func sum(_ counts: [CappedCount]) -> String {
        Format.number(counts.reduce(0) { $0 + $1.value }) + (counts.contains(where: \.isCapped) ? "+" : "")
    }

    // MARK: - The last hour

    private static func hour(_ overview: Overview) -> PagePart {
        let minutes = overview.series.minutes
        let labels = minutes.map { Format.minute($0.minute) }
        let ends = (labels.first ?? "", labels.last.map { "\($0) now" } ?? "")
        let accepted = minutes.map(\.accepted)
        let discarded = minutes.map(\.discarded)
        let ended = Chart(
            id: "chart-ended", title: "Pushes a minute",
            summary:
                "\(Format.count(accepted.reduce(0, +), "push", "pushes")) accepted and \(Format.number(discarded.reduce(0, +))) given up in the last hour.",
            layers: [
                .init(name: "accepted", tone: "good", values: accepted),
                .init(name: "given up", tone: "bad", values: discarded),
            ], labels: labels, ends: ends)
        let again = Chart(
            id: "chart-again", title: "Tries put off a minute",
            summary: "\(Format.count(minutes.reduce(0) { $0 + $1.retries }, "try", "tries")) put off in the last hour.",
            layers: [.init(name: "put off", tone: "warn", values: minutes.map(\.retries))], labels: labels, ends: ends)
        let decided = Chart(
            id: "chart-decided", title: "Notifications decided a minute",
            summary:
                "\(Format.count(minutes.reduce(0) { $0 + $1.decisions }, "notification", "notifications")) decided in the last hour.",
            layers: [.init(name: "decided", tone: "neutral", values: minutes.map(\.decisions))], labels: labels,
            ends: ends)
        return PagePart(
            id: "hour",
            content: """
                <h2>The last hour</h2>
                <div class="grid charts">
                <div><h3>Pushes</h3>\(ended.key)\(ended.html)</div>
                <div><h3>Notifications</h3>\(decided.key)\(decided.html)</div>
                <div><h3>Tries</h3>\(again.key)\(again.html)</div>
                <div><h3>From row to acceptance</h3>\(self.latency(overview.latency))</div>
                </div>
                <details id="hour-numbers"><summary>The same in numbers</summary>
                <div class="scroll" tabindex="0" role="region" aria-label="The last hour in numbers">\
                \(self.numbers(minutes))</div></details>

                """)
    }

    private static func latency(_ sample: LatencySample?) -> HTML {
        guard let sample else {
            return #"<p class="quiet">Nothing was accepted lately, so there is nothing to time.</p>"#
        }
        let longest = max(sample.longest, 0.001)
        let rows = [("Half within", sample.median), ("95 of 100 within", sample.p95), ("Slowest", sample.longest)].map {
            row -> HTML in
            let share = min(100, max(1, Int(row.1 / longest * 100)))
            return """
                <dt>\(row.0)</dt><dd>\(Format.duration(seconds: row.1))
                <svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">\
                <rect class="neutral" width="\(share)" height="4"/></svg></dd>

                """
        }
        return """
            <dl class="facts chart">
            \(rows)</dl>
            <p class="quiet">Of the last \(Format.count(sample.count, "push", "pushes")) accepted at the first try.</p>

            """
    }

    private static func numbers(_ minutes: [MinuteCounts]) -> HTML {
        Table(
            caption: "The last hour by the minute, latest first",
            columns: [
                .init(label: "Minute"), .init(label: "Decided", style: .number),
                .init(label: "Accepted", style: .number), .init(label: "Given up", style: .number),
                .init(label: "Cancelled", style: .number), .init(label: "Put off", style: .number),
            ],
            rows: minutes.reversed().map { minute in
                let counts = [minute.decisions, minute.accepted, minute.discarded, minute.cancelled, minute.retries]
                return Table.Row(
                    cells: [HTML(escaping: Format.minute(minute.minute))]
                        + counts.map { HTML(escaping: Format.number($0)) })
            }, isNarrow: true
        ).html
    }

    // MARK: - Depths

    private static func lanes(_ overview: Overview) -> PagePart {
        PagePart(
            id: "lanes",
            content: """
                <h2>Notifications that wait to be looked at</h2>
                \(Table(
                    caption: "Waiting notifications by lane",
                    columns: [
                        .init(label: "Lane"), .init(label: "Waiting", style: .number),
                        .init(label: "Oldest", style: .number),
                    ],
                    rows: overview.lanes.map { depth in
                        Table.Row(cells: [
                            """
                            \(Explanation.lane(depth.lane).title) \
                            <p class="quiet">\(Explanation.lane(depth.lane).meaning)</p>
                            """,
                            "\(depth.count.description)",
                            "\(depth.oldestSeconds.map { Format.duration(seconds: $0) } ?? "–")",
                        ])
                    }, isNarrow: true
                ).html)
                """)
    }

    private static func endpoints(_ overview: Overview) -> PagePart {
        PagePart(
            id: "endpoints",
            content: """
                <h2>Deliveries that wait for another try</h2>
                \(Table(
                    caption: "Waiting deliveries by provider",
                    columns: [
                        .init(label: "Provider"), .init(label: "Waiting", style: .number),
                        .init(label: "Due now", style: .number), .init(label: "Oldest due", style: .number),
                    ],
                    rows: overview.endpoints.map { depth in
                        Table.Row(cells: [
                            "\(Explanation.endpoint(depth.endpoint))",
                            "\(depth.count.description)",
                            "\(depth.due.description)",
                            "\(depth.oldestDueSeconds.map { Format.duration(seconds: $0) } ?? "–")",
                        ])
                    }, isNarrow: true
                ).html)
                <p class="quiet"><a href="\(Route.deliveries(Route.Query([("state", "available")])))">See what waits</a></p>
                """)
    }

    // MARK: - Providers

    private static func provider(_ state: ProviderState, _ overview: Overview, _ context: PageContext) -> PagePart {
        let name = Explanation.endpoint(state.endpoint)
        let waiting = overview.endpoints.first { $0.endpoint == state.endpoint }?.count
        let content: HTML
        if let pause = state.pause {
            let why = Explanation.reason(named: pause.reason)
            let isOurs = pause.by == .worker
            let until: HTML =
                pause.until.map { "until \(Parts.moment($0)) (\(Parts.relative($0, context)))" }
                ?? "until somebody resumes it"
            let by: HTML =
                switch pause.by {
                case .worker: "a worker, for what the provider answered"
                case .person(let person): "\(person)"
                }
            content = """
                <div class="head"><h3>\(name)</h3>\(Parts.pill("Paused", isOurs ? .bad : .warn))</div>
                \(Parts.facts([
                    ("Why", isOurs ? "\(why.title) <code class=\"quiet\">\(pause.reason)</code>" : "\(pause.reason)"),
                    ("By", by), ("Ends", until),
                    ("What to do", "\(isOurs ? self.capitalised(self.sentence(pause.fix ?? why.advice ?? "Nothing: it goes on by itself")) : "Resume it when the reason has passed.")"),
                    ("Waiting", "\(waiting?.description ?? "–")"),
                ]))\
                \(self.actions(ActionForm(
                    route: .resume(state.endpoint), label: "Resume", question: "Resume \(name)?",
                    effect: "What waits for it becomes due at once. If the fault is still there, a worker pauses it again."
                ).html(context)))
                """
        } else {
            content = """
                <div class="head"><h3>\(name)</h3>\(Parts.pill("Open", .good))</div>
                \(Parts.facts([
                    ("Since", state.changedAt.map { Parts.relative($0, context) } ?? "the beginning"),
                    ("Waiting", "\(waiting?.description ?? "–")"),
                ]))\
                \(HTML.when(context.mayAct, self.pauseForm(state.endpoint, context)))
                """
        }
        return PagePart(id: "provider-\(self.idWord(state.endpoint))", content: content)
    }

    private static func idWord(_ endpoint: ProviderEndpoint) -> String {
        endpoint.rawValue.replacing(":", with: "-")
    }

    /// Folded away: it is seldom wanted, and asks for a reason that everybody will see.
    private static func pauseForm(_ endpoint: ProviderEndpoint, _ context: PageContext) -> HTML {
        let id = "pause-\(self.idWord(endpoint))"
        let form = ActionForm(
            route: .pause(endpoint), label: "Pause", question: "Pause \(Explanation.endpoint(endpoint))?",
            effect: "No worker sends to it until somebody resumes it. Deliveries are kept, until their lifetime ends.",
            style: .softDanger, line: .init(id: "\(id)-reason", name: "reason", label: "Reason, shown to everybody"))
        return "<details id=\"\(id)\"><summary>Pause…</summary>\(form.html(context))</details>"
    }

    static func actions(_ forms: HTML...) -> HTML {
        let all = forms.joined()
        return all.isEmpty ? .empty : "<div class=\"actions\">\(all)</div>\n"
    }

    // MARK: - Workers

    private static func workers(_ overview: Overview, _ context: PageContext) -> PagePart {
        let table: HTML =
            overview.workers.isEmpty
            ? "<p>No worker was seen within the last day.</p>"
            : Table(
                caption: "Workers of the last day",
                columns: [
                    .init(label: "Worker"), .init(label: "State", style: .nowrap),
                    .init(label: "Heartbeat", style: .nowrap), .init(label: "Woken by", style: .nowrap),
                    .init(label: "In hand", style: .number), .init(label: "Started", style: .nowrap),
                    .init(label: "Version", style: .nowrap),
                ],
                rows: overview.workers.map { worker in
                    Table.Row(cells: [
                        "\(worker.name)", self.condition(worker.condition), Parts.relative(worker.heartbeatAt, context),
                        worker.condition == .running ? (worker.isListening ? "NOTIFY" : "polling") : .empty,
                        "\(Format.number(worker.running))", Parts.relative(worker.startedAt, context),
                        "\(worker.version)",
                    ])
                }
            ).html
        return PagePart(id: "workers", content: "<h2>Workers</h2>\n\(table)")
    }

    private static func condition(_ condition: WorkerState.Condition) -> HTML {
        switch condition {
        case .running: Parts.pill("Running", .good)
        case .stopped: Parts.pill("Stopped", .still)
        case .lost: Parts.pill("Silent", .warn)
        }
    }
}
