/// Small charts as SVG, coloured by the style sheet. Each has a title and a description, and its numbers stand in a
/// table beside it.
struct Chart {
    /// One colour of a stack.
    struct Layer {
        var name: String
        /// `good`, `bad`, `warn` or `neutral`.
        var tone: String
        var values: [Int]
    }

    /// Unique in the page; its title and description get ids from it.
    var id: String
    var title: String
    /// What of the chart matters, as a sentence.
    var summary: String
    var layers: [Layer]
    /// A label for each bar, which the pointer shows.
    var labels: [String]
    /// Under the left and the right end.
    var ends: (String, String)

    private static let height = 100.0
    private static let step = 10.0

    var peak: Int {
        self.labels.indices.map { index in self.layers.reduce(0) { $0 + $1.values[index] } }.max() ?? 0
    }

    var html: HTML {
        let width = Int(Double(self.labels.count) * Self.step)
        return """
            <figure class="chart" aria-labelledby="\(self.id)-title">
            <svg viewBox="0 0 \(width) 100" preserveAspectRatio="none" role="img" aria-labelledby="\(self.id)-title \(self.id)-text">
            <title id="\(self.id)-title">\(self.title)</title>
            <desc id="\(self.id)-text">\(self.summary)</desc>
            <line class="base" x1="0" y1="100" x2="\(width)" y2="100"/>
            \(self.labels.indices.map(self.bar))\
            </svg>
            <div class="axis"><span>\(self.ends.0)</span><span>peak \(Format.number(self.peak))</span><span>\(self.ends.1)</span></div>
            </figure>

            """
    }

    var key: HTML {
        let entries = self.layers.map { layer -> HTML in #"<li class="is-\#(layer.tone)">\#(layer.name)</li>"# }
        return "<ul class=\"key\">\(entries)</ul>\n"
    }

    private func bar(_ index: Int) -> HTML {
        let peak = Double(max(self.peak, 1))
        var top = Self.height
        var words: [String] = []
        var rectangles = HTML.empty
        for layer in self.layers where layer.values[index] > 0 {
            // Something is seen of whatever is more than nothing.
            let height = max(1.5, Double(layer.values[index]) / peak * Self.height)
            top -= height
            words.append("\(Format.number(layer.values[index])) \(layer.name)")
            rectangles += """
                <rect class="\(layer.tone)" x="\(Self.coordinate(Double(index) * Self.step + 1))" \
                y="\(Self.coordinate(max(0, top)))" width="8" height="\(Self.coordinate(height))"/>
                """
        }
        guard !rectangles.isEmpty else { return .empty }
        return "<g><title>\(self.labels[index]): \(words.joined(separator: ", "))</title>\(rectangles)</g>\n"
    }

    /// With one decimal, and the point that SVG wants.
    private static func coordinate(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
