import FoundationEssentials
import Observability
import TestSupport
import Testing

@testable import Delivery

/// Alert rules and the dashboard ask for metrics, labels and values that there are: a query with a typing error is not
/// wrong to Prometheus, only empty for ever.
@Suite struct MetricUseTests {
    /// What Prometheus adds.
    private static let added: Set<String> = ["job", "instance", "le"]

    private struct Use {
        var metric: Metric
        var matchers: [(label: String, values: [String])]
    }

    @Test(arguments: [
        "deploy/prometheus/push-fanout.rules.yml", "deploy/prometheus/push-fanout.rules.test.yml",
        "deploy/grafana/push-fanout.json",
    ])
    func `every label and value in a query is one the metric can have`(_ path: String) throws {
        let data = try #require(FileManager.default.contents(atPath: "\(Repository.root)/\(path)"))
        let text = String(decoding: data, as: UTF8.self).replacing("\\\"", with: "\"")
        let uses = try Self.uses(in: text)
        #expect(uses.count > 20)
        for use in uses {
            for (label, values) in use.matchers where !Self.added.contains(label) {
                let known = use.metric.labels.first { $0.name == label }
                #expect(known != nil, "\(path): \(use.metric.name) has no label \(label)")
                guard let set = known?.values else { continue }
                for value in values where !value.contains("$") && value != MetricLabel.other {
                    let fits =
                        value.hasSuffix(".*")
                        ? set.contains { $0.hasPrefix(value.dropLast(2)) } : set.contains(value)
                    #expect(fits, "\(path): \(use.metric.name) has no \(label) \(value)")
                }
            }
        }
    }

    /// Every `name{label="value", …}`.
    private static func uses(in text: String) throws -> [Use] {
        let metrics = Dictionary(uniqueKeysWithValues: WorkerMetrics.all.map { ($0.name, $0) })
        var uses: [Use] = []
        for match in text.matches(of: /\b((?:push|process)_[a-z_]+)\{([^{}]*)\}/) {
            var name = String(match.1)
            for suffix in ["_bucket", "_sum", "_count"] where metrics[name] == nil && name.hasSuffix(suffix) {
                name = String(name.dropLast(suffix.count))
            }
            let metric = try #require(metrics[name], "\(name) is in no list")
            let matchers = match.2.matches(of: /([a-z_]+)(?:=~|!=|!~|=)"([^"]*)"/).map { matcher in
                (String(matcher.1), matcher.2.split(separator: "|").map(String.init))
            }
            uses.append(Use(metric: metric, matchers: matchers))
        }
        return uses
    }
}
