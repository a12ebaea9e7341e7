/// Prometheus' text format, version 0.0.4, as it is built up.
struct PrometheusText {
    private(set) var text = ""

    mutating func append(_ metric: Metric, _ series: [(labels: [String], number: MetricsUpdate.Number)]) {
        self.text += "# HELP \(metric.name) \(Self.escaped(metric.help, quotes: false))\n"
        self.text += "# TYPE \(metric.name) \(metric.kind.name)\n"
        for (values, number) in series {
            let labels = zip(metric.labels, values).map { "\($0.name)=\"\(Self.escaped($1, quotes: true))\"" }
            switch number {
            case .plain(let value): self.line(metric.name, labels, value)
            case .histogram(let histogram): self.append(metric, labels, histogram)
            }
        }
    }

    private mutating func append(_ metric: Metric, _ labels: [String], _ histogram: MetricsUpdate.Histogram) {
        guard case .histogram(let bounds) = metric.kind else { return }
        var count = 0
        for (bound, more) in zip(bounds + [.infinity], histogram.counts) {
            count += more
            self.line("\(metric.name)_bucket", labels + ["le=\"\(Self.number(bound))\""], Double(count))
        }
        self.line("\(metric.name)_sum", labels, histogram.sum)
        self.line("\(metric.name)_count", labels, Double(count))
    }

    private mutating func line(_ name: String, _ labels: [String], _ value: Double) {
        self.text += name
        if !labels.isEmpty { self.text += "{\(labels.joined(separator: ","))}" }
        self.text += " \(Self.number(value))\n"
    }

    /// As Go reads it: whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        guard let whole = Int(exactly: value) else { return value.description }
        return whole.description
    }

    static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || (quotes && $0 == 0x22) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
