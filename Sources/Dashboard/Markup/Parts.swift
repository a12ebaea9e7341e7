import PushModel
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Small parts that several pages show.
enum Parts {
    /// How bad a thing is; the name of its colours in the style sheet.
    enum Tone: String {
        case good, warn, bad, busy, still
    }

    // MARK: - Times

    /// `12 s ago`, which counts on by script; the moment itself is its title.
    static func relative(_ date: Date, _ context: PageContext) -> HTML {
        """
        <time datetime="\(Format.machine(date))" title="\(Format.dateAndTime(date)) UTC" data-relative>\
        \(Format.relative(date, now: context.now))</time>
        """
    }

    /// `2026-11-14 08:00:00`.
    static func moment(_ date: Date) -> HTML {
        #"<time datetime="\#(Format.machine(date))" class="nowrap">\#(Format.dateAndTime(date))</time>"#
    }

    /// `2026-11-14 08:00:00.250`.
    static func precise(_ date: Date) -> HTML {
        """
        <time datetime="\(Format.machine(date))" class="nowrap">\(Format.day(date)) \(Format.preciseTime(date))</time>
        """
    }

    // MARK: - Words with a colour

    static func pill(_ words: String, _ tone: Tone) -> HTML {
        #"<span class="pill \#(tone.rawValue)">\#(words)</span>"#
    }

    static func pill(_ state: DeliveryState) -> HTML {
        self.pill(Explanation.state(state).title, self.tone(state))
    }

    static func tone(_ state: DeliveryState) -> Tone {
        switch state {
        case .available: .warn
        case .running: .busy
        case .accepted: .good
        case .discarded: .bad
        case .cancelled: .still
        }
    }

    /// A reason in words, with the word itself beside it for those who search for it.
    static func reason(_ name: String?) -> HTML {
        guard let name else { return .empty }
        let title = Explanation.reason(named: name).title
        guard title != name else { return "<code>\(name)</code>" }
        return #"\#(title) <code class="quiet">\#(name)</code>"#
    }

    /// Whether it waits for the end of a pause, which is no time that one could name: the time of its next try is only
    /// when it is looked at again in any case.
    static func waitsForResume(_ reason: String?) -> Bool { reason == "provider_paused" }

    // MARK: - Ids

    /// The beginning of an id, which leads to its page.
    static func link(_ id: UUID, to route: Route) -> HTML {
        #"<a class="id short" href="\#(route)" title="\#(id.text)">\#(id.text.prefix(8))</a>"#
    }

    /// The whole of an id, with a button that copies it (shown by script).
    static func id(_ id: UUID, called name: String, to route: Route? = nil) -> HTML {
        let text: HTML =
            route.map { #"<a class="id" href="\#($0)">\#(id.text)</a>"# } ?? #"<span class="id">\#(id.text)</span>"#
        return """
            \(text)<button type="button" class="copy" data-copy="\(id.text)" aria-label="Copy the id of the \(name)" hidden>\
            Copy</button>
            """
    }

    // MARK: - Lists of facts

    static func facts(_ pairs: [(String, HTML)]) -> HTML {
        let rows = pairs.filter { !$0.1.isEmpty }.map { pair -> HTML in "<dt>\(pair.0)</dt><dd>\(pair.1)</dd>\n" }
        return "<dl class=\"facts\">\n\(rows)</dl>\n"
    }

    static func kind(_ name: String?) -> HTML {
        name.map { HTML(escaping: Explanation.kind(named: $0)) } ?? #"<span class="quiet">not known yet</span>"#
    }

    static func platform(_ platform: Platform?) -> HTML {
        platform.map { HTML(escaping: Explanation.platform($0)) } ?? #"<span class="quiet">not known yet</span>"#
    }
}
