private import CommandLineArguments
private import Glibc
private import PushSimulator

@main
struct Main {
    static func main() async {
        // First of all, so that a signal during the start is not lost.
        let signals = TerminationSignals()
        do {
            let arguments = try Self.command.parse(Array(CommandLine.arguments.dropFirst()))
            if let help = arguments.help {
                print(help, terminator: "")
                return
            }
            try await Self.serve(arguments, until: signals)
        } catch let error as UsageError {
            Self.complain("\(error)")
            exit(UsageError.exitCode)
        } catch {
            Self.complain("\(error)")
            exit(1)
        }
    }

    private static let command = Command(
        "push-simulator",
        summary: "APNs, FCM and Google's token endpoint on loopback, over TLS and HTTP/2, as strict as the real ones",
        flags: [
            .value(
                "port", "N", "first of five ports in a row: control, APNs, APNs development, FCM, token",
                default: "0, free ones"),
            .value(
                "directory", "DIR", "write throw-away credentials, ca.pem and a file `environment` for the shell there"),
            .value("topic", "ID", "the app's bundle ID", default: SimulatorCredentials.defaultTopic),
            .value("project", "ID", "the FCM project", default: SimulatorCredentials.defaultProjectID),
            .value("faults", "FILE", "load a fault plan, as POST /faults takes it"),
            .boolean("any-token", "take any well-formed token, not only registered ones"),
            .boolean("accept-all", "for benchmarks: answer 200 to every push, check and record nothing"),
            .boolean("lenient", "take what the real services take, though the product never sends it"),
            .boolean("punish-errors", "let rejections lower APNs' stream limit and in the end close the connection"),
            .boolean("limit-resets", "keep the HTTP/2 library's limit on stream resets"),
            .boolean("quiet", "no line for each push"),
        ],
        notes: """
            Prints one line that begins with "ready" when it serves, then one line for each push. The control port answers
            GET /health /received /counts /devices /faults, POST /devices /faults, DELETE /received /devices /faults:
              curl --cacert DIR/ca.pem https://127.0.0.1:PORT/received
            """)

    private static func serve(_ arguments: ParsedArguments, until signals: TerminationSignals) async throws {
        let credentials = try SimulatorCredentials.generate(
            topic: arguments.value("topic") ?? SimulatorCredentials.defaultTopic,
            projectID: arguments.value("project") ?? SimulatorCredentials.defaultProjectID)
        var configuration = SimulatorConfiguration(credentials: credentials)
        configuration.rules.isStrict = !arguments.isSet("lenient")
        configuration.rules.punishesErrors = arguments.isSet("punish-errors")
        configuration.options.port = try arguments.integer("port", in: 0...65_531) ?? 0
        configuration.options.acceptsAnyToken = arguments.isSet("any-token")
        configuration.options.acceptsAll = arguments.isSet("accept-all")
        configuration.options.limitsResets = arguments.isSet("limit-resets")
        if let path = arguments.value("faults") { configuration.options.faults = try Self.faults(path) }
        if !arguments.isSet("quiet") {
            let coloured = isatty(STDOUT_FILENO) == 1
            configuration.options.onPush = { Self.say(PushLine.text($0, coloured: coloured)) }
        }
        let simulator = try await PushSimulator.start(configuration)
        if let directory = arguments.value("directory") { try simulator.writeDirectory(directory) }
        let addresses = simulator.addresses
        Self.say(
            "ready control=\(addresses.control) apns=\(addresses.apnsProduction) "
                + "apns-development=\(addresses.apnsDevelopment) fcm=\(addresses.fcm) token=\(addresses.tokenURI)")
        await signals.wait()
        await simulator.stop()
    }

    private static func faults(_ path: String) throws -> FaultPlan {
        guard let bytes = TextFile.read(path) else {
            throw UsageError("cannot read \(path): \(String(cString: strerror(errno)))", command: "push-simulator")
        }
        do throws(FaultPlanError) { return try FaultPlan(json: bytes) } catch {
            throw UsageError("\(path): \(error)", command: "push-simulator")
        }
    }

    /// One `write` per line: nothing is kept back when the output is a pipe, and lines do not mix.
    private static func say(_ line: String) { Self.write(line + "\n", to: STDOUT_FILENO) }

    private static func complain(_ line: String) { Self.write("push-simulator: \(line)\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to file: Int32) {
        var text = text
        text.withUTF8 { _ = Glibc.write(file, $0.baseAddress, $0.count) }
    }
}
