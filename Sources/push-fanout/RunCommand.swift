import CommandLineArguments
import Delivery
import Dispatch
import Fanout
import Glibc
import Localization
import Observability
import PushModel

/// `push-fanout run`: the worker.
enum RunCommand {
    static let declaration = Command(
        "run", summary: "Runs the worker until SIGTERM or SIGINT.",
        flags: (Setting.database + Setting.providers + [.templates] + Setting.working + Setting.logging).flatMap(
            \.flags))

    static func run(_ configuration: Configuration, _ environment: [String: String]) async throws -> Int32 {
        let log = try configuration.log(environment: environment)
        let providers = try ProviderConnections(configuration)
        let worker = Worker(
            database: try configuration.database(), settings: try configuration.delivery(), policy: RetryPolicy(),
            endpoints: providers.endpoints, name: Self.hostName, version: PushFanout.version, log: log)
        var signals = [SIGTERM, SIGINT].map { Self.on($0) { worker.stop() } }
        signals.append(
            Self.on(SIGHUP) {
                do {
                    let changed = try providers.reload(configuration)
                    worker.resume(changed)
                    log.notice(
                        "read keys and language files anew",
                        ["endpoints": changed.map(\.rawValue).joined(separator: " ")])
                } catch {
                    log.error("kept the old keys and language files", ["error": "\(error)"])
                }
            })
        defer { for signal in signals { signal.cancel() } }
        try await worker.run()
        await providers.shutdown()
        return PushFanout.ExitStatus.done
    }

    /// Calls `action` on each arrival of a signal, off the signal handler.
    private static func on(_ number: Int32, _ action: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: action)
        source.resume()
        return source
    }

    private static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
