private import Glibc
private import HTTPTransport

/// Sends APNs-like requests through `CurlTransport`, one batch after another as the worker does, and prints the rate
/// and the CPU time. `url` is what the 64-digit device token is appended to.
func transportBenchmark(
    url: String, caFile: String?, requests: Int, connections: Int, window: Int, batch: Int
) async throws {
    var configuration = CurlTransport.Configuration()
    configuration.connections = connections
    configuration.window = window
    configuration.probesFreshConnections = true
    configuration.caFile = caFile
    let transport = CurlTransport(configuration)

    let source = RequestSource(url: url)
    var tally = TransportTally()
    for await exchange in transport.send(source.make(0..<1)) { tally.add(exchange) }
    tally = TransportTally()

    let cpu = processorSeconds()
    let start = ContinuousClock.now
    // Two windows of batches, so that a connection never waits for the next batch.
    let parallel = max(1, (2 * connections * window + batch - 1) / batch)
    await withTaskGroup(of: TransportTally.self) { group in
        var next = 0
        while next < requests || !group.isEmpty {
            if next < requests, next < parallel * batch || group.isEmpty {
                let range = next..<min(next + batch, requests)
                next = range.upperBound
                group.addTask { await sendBatch(range, source: source, by: transport) }
                continue
            }
            guard let done = await group.next() else { break }
            tally.add(done)
            if next < requests {
                let range = next..<min(next + batch, requests)
                next = range.upperBound
                group.addTask { await sendBatch(range, source: source, by: transport) }
            }
        }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let used = processorSeconds() - cpu
    print(
        "\(requests) requests, \(tally.accepted) answered 200, \(tally.other) otherwise, \(tally.failed) failed:",
        "\(Int(Double(requests) / seconds)) requests/s, \((used / Double(requests) * 10_000_000).rounded() / 10) µs CPU each,",
        "\(transport.statistics.connectionsOpened) connections"
    )
    for (reason, count) in tally.reasons.sorted(by: { $0.key < $1.key }) { print("  \(reason): \(count)") }
    await transport.shutdown()
}

private func sendBatch(_ range: Range<Int>, source: RequestSource, by transport: CurlTransport) async -> TransportTally
{
    var tally = TransportTally()
    for await exchanges in transport.send(source.make(range)) { tally.add(exchanges) }
    return tally
}

private struct TransportTally: Sendable {
    var accepted = 0
    var other = 0
    var failed = 0
    var reasons: [String: Int] = [:]

    mutating func add(_ exchanges: [HTTPExchange]) {
        for exchange in exchanges {
            switch exchange.result {
            case .success(let answer) where answer.status == 200: self.accepted += 1
            case .success: self.other += 1
            case .failure(let failure):
                self.failed += 1
                self.reasons["\(failure.fate) \(failure.reason)", default: 0] += 1
            }
        }
    }

    mutating func add(_ other: TransportTally) {
        self.accepted += other.accepted
        self.other += other.other
        self.failed += other.failed
        self.reasons.merge(other.reasons, uniquingKeysWith: +)
    }
}

/// Headers as long and as varied as the real ones.
private struct RequestSource: Sendable {
    let url: String
    private let authorization =
        "bearer " + String(repeating: "0123456789abcdefghijklmnopqrstuvwxyzABC.", count: 5).dropLast(7)
    private let body = Array(
        #"{"aps":{"alert":{"body":"Phone number and address","title":"Anna updated her details"},"badge":3,"content-available":1,"sound":"default","thread-id":"contact_updated"},"id":"0b7a0f6e-2d0c-4b59-9b59-7d6fb0c0a001","kind":"contact_updated"}"#
            .utf8
    )

    init(url: String) { self.url = url }

    func make(_ range: Range<Int>) -> [HTTPRequest] {
        range.map { number in
            let id = digits(number, 12)
            return HTTPRequest(
                id: number, url: self.url + String(repeating: digits(number % 1000, 8), count: 8),
                headers: [
                    ("authorization", self.authorization), ("apns-id", "5f1c9e52-7b1d-4f6e-8a43-\(id)"),
                    ("apns-topic", "com.example.contacts"), ("apns-push-type", "alert"), ("apns-priority", "10"),
                    ("apns-expiration", "1796083200"), ("apns-collapse-id", "contact_updated:\(id)"),
                ],
                body: self.body
            )
        }
    }

    private func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

private func processorSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
