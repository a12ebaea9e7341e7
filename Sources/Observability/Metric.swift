/// What is known of a metric before anything is measured: its name, its kind, its words and its labels.
///
/// Names follow Prometheus' conventions: base units, `_total` for counters. A metric is one value in a list that the
/// registry, the tests, the alert rules and the dashboard are all checked against.
package struct Metric: Sendable {
    package enum Kind: Equatable, Sendable {
        case counter
        case gauge
        /// Upper bounds, ascending, without the last one (`+Inf`).
        case histogram(bounds: [Double])

        /// The word behind `# TYPE`.
        package var name: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    package let name: String
    package let kind: Kind
    package let help: String
    package let labels: [MetricLabel]

    package init(_ name: String, _ kind: Kind, _ help: String, labels: [MetricLabel] = []) {
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
    }
}

/// A label with the closed set of values it may take, so that no answer, address or typing error makes new series.
package struct MetricLabel: Sendable {
    /// What a value outside the set becomes.
    package static let other = "other"

    package let name: String
    /// Nil: a constant of the process, such as its version.
    package let values: [String]?
    private let set: Set<String>

    package init(_ name: String, _ values: [String]) {
        self.name = name
        self.values = values
        self.set = Set(values)
    }

    /// A label whose only value is a constant of the process.
    package init(constant name: String) {
        self.name = name
        self.values = nil
        self.set = []
    }

    func bounded(_ value: String) -> String {
        self.values == nil || self.set.contains(value) ? value : Self.other
    }
}

extension Metric.Kind {
    /// Seconds from a millisecond to half a minute: what a statement or a request takes.
    package static let shortTimes = Metric.Kind.histogram(
        bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30])
    /// Seconds from ten milliseconds to a day: what a notification may take until it is accepted.
    package static let longTimes = Metric.Kind.histogram(
        bounds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400])
}
