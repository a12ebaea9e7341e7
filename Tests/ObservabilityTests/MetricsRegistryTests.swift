import Locking
import Testing

@testable import Observability

private let requests = Metric(
    "test_requests_total", .counter, "Requests.",
    labels: [MetricLabel("route", ["page", "api"]), MetricLabel("result", ["good", "bad"])])
private let depth = Metric("test_depth", .gauge, "What waits.", labels: [MetricLabel("lane", ["fast", "slow"])])
private let plain = Metric("test_size_bytes", .gauge, "A size.")
private let took = Metric(
    "test_duration_seconds", .histogram(bounds: [0.1, 1]), "What it took.", labels: [MetricLabel("route", ["page"])])
private let about = Metric(
    "test_info", .gauge, "Words with a \\ and\na line end.", labels: [MetricLabel(constant: "version")])

@Suite struct MetricsRegistryTests {
    private static func registry() -> MetricsRegistry { MetricsRegistry([requests, depth, plain, took, about]) }

    @Test func `the text is in the order of the list, with help, type and sorted series`() {
        let registry = Self.registry()
        registry.update { update in
            update.add(requests, ["page", "good"])
            update.add(requests, ["page", "good"], 2)
            update.add(requests, ["api", "bad"], 0.5)
            update.set(depth, ["slow"], 7)
            update.set(depth, ["fast"], 1e9)
            update.observe(took, ["page"], 0.1)
            update.observe(took, ["page"], .milliseconds(250))
            update.observe(took, ["page"], 5)
            update.set(about, ["1.0 \"beta\" \\\n"], 1)
        }
        #expect(
            registry.text() == """
                # HELP test_requests_total Requests.
                # TYPE test_requests_total counter
                test_requests_total{route="api",result="bad"} 0.5
                test_requests_total{route="api",result="good"} 0
                test_requests_total{route="page",result="bad"} 0
                test_requests_total{route="page",result="good"} 3
                # HELP test_depth What waits.
                # TYPE test_depth gauge
                test_depth{lane="fast"} 1000000000
                test_depth{lane="slow"} 7
                # HELP test_size_bytes A size.
                # TYPE test_size_bytes gauge
                test_size_bytes 0
                # HELP test_duration_seconds What it took.
                # TYPE test_duration_seconds histogram
                test_duration_seconds_bucket{route="page",le="0.1"} 1
                test_duration_seconds_bucket{route="page",le="1"} 2
                test_duration_seconds_bucket{route="page",le="+Inf"} 3
                test_duration_seconds_sum{route="page"} 5.35
                test_duration_seconds_count{route="page"} 3
                # HELP test_info Words with a \\\\ and\\na line end.
                # TYPE test_info gauge
                test_info{version="1.0 \\"beta\\" \\\\\\n"} 1

                """)
    }

    @Test(arguments: [
        (0.0, "0"), (-3, "-3"), (0.001, "0.001"), (1.5, "1.5"), (1e15, "1000000000000000"), (.infinity, "+Inf"),
        (-.infinity, "-Inf"), (.nan, "NaN"), (1_794_643_200.25, "1794643200.25"), (1e300, "1e+300"),
    ])
    func `a number is written as Prometheus reads it`(_ value: Double, _ text: String) {
        #expect(PrometheusText.number(value) == text)
    }

    @Test func `values outside a label's set are one series, however many there are`() {
        let registry = Self.registry()
        registry.update { update in
            for number in 0..<1000 { update.add(requests, ["/secret/\(number)", "good"]) }
            update.add(requests, ["page", "\u{0}"])
        }
        #expect(registry.value(requests, ["other", "good"]) == 1000)
        #expect(registry.value(requests, ["/secret/7", "good"]) == 1000)
        #expect(registry.value(requests, ["page", "other"]) == 1)
        #expect(!registry.text().contains("secret"))
    }

    @Test func `a counter never falls and takes no nonsense`() {
        let registry = Self.registry()
        registry.update { update in
            update.add(requests, ["page", "good"], 3)
            update.add(requests, ["page", "good"], -1)
            update.add(requests, ["page", "good"], .nan)
            update.add(requests, ["page", "good"], .infinity)
            update.observe(took, ["page"], .nan)
            update.observe(took, ["page"], -5)
        }
        #expect(registry.value(requests, ["page", "good"]) == 3)
        #expect(registry.value(took, ["page"]) == 1)
        #expect(registry.text().contains("test_duration_seconds_sum{route=\"page\"} 0\n"))
    }

    @Test func `replacing a gauge takes away the series that are not named`() {
        let registry = Self.registry()
        registry.update { $0.set(depth, ["slow"], 7) }
        registry.update { $0.replace(depth, [(["fast"], 2)]) }
        #expect(registry.value(depth, ["slow"]) == nil)
        #expect(registry.value(depth, ["fast"]) == 2)
    }

    @Test func `sources are asked each time and what they say is not kept`() {
        let registry = Self.registry()
        let size = Locked(1)
        registry.collect { update in update.set(plain, [], size.withLock { $0 }) }
        #expect(registry.value(plain) == 1)
        size.withLock { $0 = 5 }
        #expect(registry.text().contains("\ntest_size_bytes 5\n"))
        // A source that counts would otherwise count every scrape.
        registry.collect { update in update.add(requests, ["page", "good"]) }
        #expect(registry.value(requests, ["page", "good"]) == 1)
        #expect(registry.value(requests, ["page", "good"]) == 1)
    }

    @Test func `many threads lose no observation, whoever reads meanwhile`() async {
        let registry = Self.registry()
        await withDiscardingTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for round in 0..<500 {
                        registry.update { update in
                            update.add(requests, ["page", thread % 2 == 0 ? "good" : "bad"])
                            update.observe(took, ["page"], Double(round % 3))
                        }
                        if round % 100 == 0 { #expect(registry.text().contains("# TYPE")) }
                    }
                }
            }
        }
        #expect(registry.value(requests, ["page", "good"]) == 2000)
        #expect(registry.value(requests, ["page", "bad"]) == 2000)
        #expect(registry.value(took, ["page"]) == 4000)
    }

    @Test func `the process tells its memory, time and files`() throws {
        let registry = MetricsRegistry(ProcessMetrics.all)
        registry.collect(ProcessMetrics.collect)
        #expect(try #require(registry.value(ProcessMetrics.residentMemory)) > 1_000_000)
        #expect(try #require(registry.value(ProcessMetrics.processorTime)) > 0)
        #expect(try #require(registry.value(ProcessMetrics.openFiles)) > 2)
        #expect(try #require(registry.value(ProcessMetrics.mostFiles)) > 2)
        #expect(try #require(registry.value(ProcessMetrics.threads)) >= 1)
        // After 2020.
        #expect(try #require(registry.value(ProcessMetrics.startTime)) > 1_577_836_800)
    }
}
