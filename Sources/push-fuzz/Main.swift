import CommandLineArguments
import Fuzzing
import Glibc

@main
struct Main {
    private static let command = Command(
        "push-fuzz", summary: "Feeds generated inputs to every parser of what comes from outside.",
        flags: [
            .value("parser", "NAME", "only this parser; may be given more than once", repeats: true),
            .value("number", "N", "only the input of this number: shows it, then parses it"),
            .value("hang", "SECONDS", "the longest one input may take", default: "10"),
            .boolean("outcomes", "also what became of the inputs"),
            // What the crash handler calls.
            .value("crashed", "N", "shows the input of this number, without parsing it"),
        ],
        positionals: [
            Positional("INPUTS", "inputs for each parser (1000000)", isRequired: false),
            Positional("SEED", "which inputs: the same seed, the same inputs (1)", isRequired: false),
        ],
        notes: "Parsers: \(FuzzTarget.all.map(\.name).joined(separator: ", ")).")

    static func main() {
        do {
            let arguments = try Self.command.parse(Array(CommandLine.arguments.dropFirst()))
            if let help = arguments.help {
                print(help)
            } else {
                exit(try Self.run(arguments))
            }
        } catch {
            print(error)
            exit(UsageError.exitCode)
        }
    }

    private static func run(_ arguments: ParsedArguments) throws(UsageError) -> Int32 {
        let inputs = try Self.positional(arguments, 0, in: 1...1_000_000_000) ?? 1_000_000
        let seed = UInt64(try Self.positional(arguments, 1, in: 0...Int.max) ?? 1)
        let names = arguments.values("parser")
        let targets = FuzzTarget.all.filter { names.isEmpty || names.contains($0.name) }
        if let unknown = names.first(where: { name in !targets.contains { $0.name == name } }) {
            throw arguments.usageError("there is no parser \"\(unknown)\"")
        }
        if let number = try arguments.integer("crashed", in: 0...Int.max) {
            for target in targets { Report.crash(target, seed: seed, number: number) }
            return 1
        }
        if let number = try arguments.integer("number", in: 0...Int.max) {
            return Report.one(targets, seed: seed, number: number) ? 0 : 1
        }
        let limit = try arguments.integer("hang", in: 1...3600) ?? 10
        let run = FuzzRun(
            targets: targets, inputs: inputs, seed: seed, limit: .seconds(limit),
            showsOutcomes: arguments.isSet("outcomes"))
        return run.run() ? 0 : 1
    }

    private static func positional(
        _ arguments: ParsedArguments, _ index: Int, in range: ClosedRange<Int>
    ) throws(UsageError) -> Int? {
        guard index < arguments.positionals.count else { return nil }
        let text = arguments.positionals[index]
        guard let number = Int(text), range.contains(number) else {
            throw arguments.usageError("\"\(text)\" is no whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
