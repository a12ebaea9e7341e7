import CommandLineArguments
import Glibc

import class FoundationEssentials.ProcessInfo

@main
struct Main {
    static func main() async {
        // A provider or database that hangs up is an error of that call, not a signal.
        signal(SIGPIPE, SIG_IGN)
        StandardStreams.open()
        let status = await PushFanout.run(
            Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        exit(StandardStreams.status(status))
    }
}
