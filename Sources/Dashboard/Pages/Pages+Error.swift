extension Pages {
    /// Says what went wrong, and where to go.
    ///
    /// - Parameter detail: a sentence of the caller's, safe to show.
    package static func error(status: Int, detail: String? = nil, _ context: PageContext) -> HTML {
        let (title, meaning) = self.words(status)
        return Layout(title: title, isNarrow: true).page(
            context,
            """
            <section class="box">
            \(HTML.when(detail != nil, "<p><strong>\(detail ?? "")</strong></p>\n"))\
            <p>\(meaning)</p>
            <p class="quiet">Status \(status).</p>
            <div class="actions"><a class="button soft" href="\(Route.overview)">To the overview</a></div>
            </section>

            """)
    }

    private static func words(_ status: Int) -> (title: String, meaning: HTML) {
        switch status {
        case 400: ("Not understood", "This request is not one that these pages make.")
        case 403:
            (
                "Not allowed",
                "You are signed in to look, or the page was opened too long ago. Load it again, or sign in with the operator’s token."
            )
        case 404:
            (
                "Not found",
                "There is nothing at this address. What is older than the history is kept for has been pruned (30 days, unless set otherwise)."
            )
        case 405: ("Not possible here", "This address does not take that kind of request.")
        case 413: ("Too large", "The request was larger than these pages ever send.")
        case 429: ("Too many requests", "Wait a moment, then try again.")
        case 503:
            (
                "The database does not answer",
                "It is away or very slow at the moment. The queue is not touched by that: what is in it stays in it. Load the page again in a moment."
            )
        default: ("Something went wrong", "The worker’s log says more.")
        }
    }
}
