/// The numbers while they are being changed: what ``MetricsRegistry/update(_:)`` hands out.
///
/// Labels are given in the order of the metric's list. A value outside a label's set counts as `other`, so the number of
/// series has a bound that the list itself tells.
package struct MetricsUpdate: Sendable {
    struct Histogram: Sendable {
        /// Per bucket, not summed up; the last is `+Inf`.
        var counts: [Int]
        var sum = 0.0
    }

    enum Number: Sendable {
        case plain(Double)
        case histogram(Histogram)
    }

    private struct Family: Sendable {
        let metric: Metric
        var series: [[String]: Number] = [:]

        /// The series itself, or the one that a value outside the sets belongs to.
        func key(_ labels: [String]) -> [String] {
            if self.series[labels] != nil { return labels }
            return zip(self.metric.labels, labels).map { $0.bounded($1) }
        }
    }

    private var families: [String: Family]

    init(_ metrics: [Metric]) {
        self.families = Dictionary(metrics.map { ($0.name, Family(metric: $0)) }) { first, _ in first }
    }

    /// Counts `amount` more. What is negative or no number changes nothing: a counter never falls.
    package mutating func add(_ metric: Metric, _ labels: [String] = [], _ amount: Double = 1) {
        guard amount >= 0, amount.isFinite else { return }
        self.change(metric, labels) { number in
            if case .plain(let before) = number { number = .plain(before + amount) }
        }
    }

    package mutating func add(_ metric: Metric, _ labels: [String] = [], _ amount: Int) {
        self.add(metric, labels, Double(amount))
    }

    /// Sets a gauge, or a counter that is kept elsewhere.
    package mutating func set(_ metric: Metric, _ labels: [String] = [], _ value: Double) {
        self.change(metric, labels) { number in
            if case .plain = number { number = .plain(value) }
        }
    }

    package mutating func set(_ metric: Metric, _ labels: [String] = [], _ value: Int) {
        self.set(metric, labels, Double(value))
    }

    /// Sets all series of a gauge at once; those that are not named are gone.
    package mutating func replace(_ metric: Metric, _ values: [(labels: [String], value: Double)]) {
        self.families[metric.name]?.series = [:]
        for (labels, value) in values { self.set(metric, labels, value) }
    }

    /// Takes in observations of a histogram, in seconds. A negative one, from clocks that disagree, counts as 0.
    package mutating func observe(_ metric: Metric, _ labels: [String] = [], all values: [Double]) {
        guard case .histogram(let bounds) = metric.kind, !values.isEmpty else { return }
        self.change(metric, labels) { number in
            guard case .histogram(var histogram) = number else { return }
            // Only one reference at a time, or each observation would copy the buckets.
            number = .plain(0)
            for value in values where !value.isNaN {
                let value = max(0, value)
                histogram.counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
                histogram.sum += value
            }
            number = .histogram(histogram)
        }
    }

    package mutating func observe(_ metric: Metric, _ labels: [String] = [], _ value: Double) {
        self.observe(metric, labels, all: [value])
    }

    package mutating func observe(_ metric: Metric, _ labels: [String] = [], _ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.observe(metric, labels, Double(seconds) + Double(attoseconds) * 1e-18)
    }

    /// Makes a series with nothing in it yet.
    mutating func begin(_ metric: Metric, _ labels: [String]) {
        self.change(metric, labels) { _ in }
    }

    private mutating func change(_ metric: Metric, _ labels: [String], _ body: (inout Number) -> Void) {
        guard let family = self.families.index(forKey: metric.name), labels.count == metric.labels.count else {
            assertionFailure("\(metric.name) is in no list, or has other labels")
            return
        }
        let key = self.families.values[family].key(labels)
        body(&self.families.values[family].series[key, default: Self.nothing(metric)])
    }

    private static func nothing(_ metric: Metric) -> Number {
        guard case .histogram(let bounds) = metric.kind else { return .plain(0) }
        return .histogram(Histogram(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func value(_ metric: Metric, _ labels: [String]) -> Double? {
        guard let family = self.families[metric.name], let number = family.series[family.key(labels)] else {
            return nil
        }
        switch number {
        case .plain(let value): return value
        case .histogram(let histogram): return Double(histogram.counts.reduce(0, +))
        }
    }

    /// Sorted by their labels.
    func series(of metric: Metric) -> [(labels: [String], number: Number)] {
        (self.families[metric.name]?.series ?? [:])
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { ($0.key, $0.value) }
    }
}
