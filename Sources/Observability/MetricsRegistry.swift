private import Locking

/// The numbers of one process: counters, gauges and histograms, in memory.
///
/// Cheap where it is hot: `update` takes the lock once for as many observations as are at hand, and an observation is
/// a look-up and an addition. Text is made when it is asked for.
package final class MetricsRegistry: Sendable {
    private struct State {
        var numbers: MetricsUpdate
        var sources: [@Sendable (inout MetricsUpdate) -> Void] = []
    }

    package let metrics: [Metric]
    private let state: Locked<State>

    /// A counter with so many series at most has all of them from the beginning, at 0: what appears with its first
    /// event has no increase that a rule could see.
    private static let mostInitialSeries = 64

    /// - Parameter metrics: everything that is ever measured; names are unique.
    package init(_ metrics: [Metric]) {
        self.metrics = metrics
        var numbers = MetricsUpdate(metrics)
        for metric in metrics where metric.kind == .counter || metric.labels.isEmpty {
            let sets = metric.labels.map { $0.values ?? [] }
            guard sets.reduce(1, { $0 * $1.count }) <= Self.mostInitialSeries else { continue }
            let series = sets.reduce([[]]) { all, values in all.flatMap { one in values.map { one + [$0] } } }
            for labels in series { numbers.begin(metric, labels) }
        }
        self.state = Locked(State(numbers: numbers))
    }

    /// Takes in any number of observations. Keep the body short: the lock is held.
    package func update(_ body: (inout MetricsUpdate) -> Void) {
        self.state.withLock { body(&$0.numbers) }
    }

    /// Has `source` asked each time the text is made, for what needs no keeping: gauges of things that are there anyhow.
    package func collect(_ source: @escaping @Sendable (inout MetricsUpdate) -> Void) {
        self.state.withLock { $0.sources.append(source) }
    }

    /// The number of one series: a counter's or gauge's value, a histogram's count of observations. Nil where nothing was
    /// observed.
    package func value(_ metric: Metric, _ labels: [String] = []) -> Double? {
        self.current().value(metric, labels)
    }

    /// All of it in Prometheus' text format, version 0.0.4: metrics in the order of the list, series by their labels.
    package func text() -> String {
        let numbers = self.current()
        var text = PrometheusText()
        for metric in self.metrics { text.append(metric, numbers.series(of: metric)) }
        return text.text
    }

    /// The content type of ``text()``.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Sources look at locks of their own: they are asked without ours, and write what they see into a copy.
    private func current() -> MetricsUpdate {
        let (sources, numbers) = self.state.withLock { ($0.sources, $0.numbers) }
        guard !sources.isEmpty else { return numbers }
        var result = numbers
        for source in sources { source(&result) }
        return result
    }
}
