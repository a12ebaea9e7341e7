internal import HTTPTransport
import Testing

extension CurlTransport {
    /// Trusts the tests' authority; short limits where a test does not say otherwise.
    static func forTests(_ change: (inout Configuration) -> Void = { _ in }) throws -> CurlTransport {
        var configuration = Configuration()
        configuration.caFile = try TestCertificates.shared.get().authority
        configuration.connections = 1
        change(&configuration)
        return CurlTransport(configuration)
    }

    /// Sends requests with these ids and checks that each comes back exactly once.
    func exchange(_ ids: Range<Int>, url: String, headers: [(name: String, value: String)] = []) async
        -> [Int: HTTPExchange]
    {
        var exchanges: [Int: HTTPExchange] = [:]
        let requests = ids.map { HTTPRequest(id: $0, url: url, headers: headers, body: Array("{}".utf8)) }
        for await batch in self.send(requests) {
            for exchange in batch { #expect(exchanges.updateValue(exchange, forKey: exchange.id) == nil) }
        }
        #expect(Set(exchanges.keys) == Set(ids))
        return exchanges
    }
}

extension [Int: HTTPExchange] {
    var answers: [HTTPAnswer] { self.values.compactMap { try? $0.result.get() } }
    func count(status: Int) -> Int { self.answers.count { $0.status == status } }

    var failures: [HTTPFailure] {
        self.values.compactMap { exchange in
            guard case .failure(let failure) = exchange.result else { return nil }
            return failure
        }
    }
}
