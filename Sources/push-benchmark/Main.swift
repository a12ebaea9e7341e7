@main
struct Main {
    /// `push-benchmark transport URL [CA-FILE [REQUESTS [CONNECTIONS [WINDOW [BATCH]]]]]`
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 2, arguments[0] == "transport" else { return }
        func number(_ index: Int, _ otherwise: Int) -> Int {
            arguments.count > index ? Int(arguments[index]) ?? otherwise : otherwise
        }
        try await transportBenchmark(
            url: arguments[1], caFile: arguments.count > 2 ? arguments[2] : nil, requests: number(3, 100_000),
            connections: number(4, 1), window: number(5, 100), batch: number(6, 500)
        )
    }
}
