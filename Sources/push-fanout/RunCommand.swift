import APNS
import CommandLineArguments
import ControlPlane
import Delivery
import Dispatch
import FCM
import Fanout
import Glibc
import HTTPServer
import Localization
import Observability
import PushModel

/// `push-fanout run`: the worker.
enum RunCommand {
    static let declaration = Command(
        "run", summary: "Runs the worker until SIGTERM or SIGINT.",
        flags: (Setting.database + Setting.providers + [.templates] + Setting.working + Setting.serving
            + Setting.logging).flatMap(
                \.flags))

    static func run(_ configuration: Configuration, _ environment: [String: String]) async throws -> Int32 {
        let log = try configuration.log(environment: environment)
        let providers = try ProviderConnections(configuration)
        let settings = try configuration.delivery()
        let serving = try configuration.serving()
        let worker = Worker(
            database: try configuration.database(), settings: settings, policy: RetryPolicy(),
            endpoints: providers.endpoints, name: Self.hostName, version: PushFanout.version, log: log)
        let controlPlane = try serving.map { try Self.serve($0, configuration, worker, settings, providers, log) }
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
        do {
            try await worker.run()
        } catch {
            await controlPlane?.stop(within: .seconds(1))
            throw error
        }
        // The last to go: until then it says what the worker is still at.
        await controlPlane?.stop(within: .seconds(3))
        await providers.shutdown()
        return PushFanout.ExitStatus.done
    }

    /// Opens the control plane's port. An address that cannot be had is a matter of configuration.
    private static func serve(
        _ serving: Configuration.Serving, _ configuration: Configuration, _ worker: Worker,
        _ settings: DeliverySettings, _ providers: ProviderConnections, _ log: Log
    ) throws -> ControlPlane {
        // Connections of people must not take the descriptors that sends need.
        DescriptorLimit.raise()
        let languages = providers.languages
        let settings = ControlPlaneConfiguration(
            address: serving.address, webhookSecret: serving.webhookSecret, operatorToken: serving.operatorToken,
            viewerToken: serving.viewerToken, database: try configuration.database(), source: settings.source,
            lifetime: settings.lifetime, metrics: worker.metrics, status: { worker.status() },
            wake: { worker.lookForWork() }, languages: { languages.current },
            identity: ProviderIdentity(
                apnsTopic: try configuration.apns()?.topic, apnsSound: try configuration.apns()?.sound,
                fcmProject: try configuration.fcm()?.account.projectID), log: log)
        do throws(ListenError) {
            let controlPlane = try ControlPlane.start(settings)
            log.notice("serving", ["address": controlPlane.address])
            if !serving.address.isLoopback {
                log.warning(
                    "serving without TLS at an address that others can reach",
                    ["fix": "put a reverse proxy that speaks TLS in front, and listen on 127.0.0.1"])
            }
            return controlPlane
        } catch {
            throw ConfigurationError("PUSH_LISTEN: \(error)")
        }
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
