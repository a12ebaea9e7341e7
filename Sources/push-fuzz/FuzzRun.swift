import Dispatch
import FoundationEssentials
import Fuzzing
import Glibc
import Locking

/// A run over all parsers, on all cores: inputs are handed out in portions, parser after parser.
struct FuzzRun {
    let targets: [FuzzTarget]
    let inputs: Int
    let seed: UInt64
    let limit: Duration
    let showsOutcomes: Bool

    private static let portion = 2000

    /// What the workers share.
    private struct Board {
        var nextPortion = 0
        var tallies: [FuzzTally]
        var portionsLeft: [Int]
        var begun: [ContinuousClock.Instant?]
        var failed = false
    }

    /// Whether everything held.
    func run() -> Bool {
        let workers = max(1, ProcessInfo.processInfo.activeProcessorCount)
        let progress = (0..<workers).map { _ in WorkerProgress() }
        CrashHandler.install(workers: progress, parsers: self.targets.map(\.name), seed: self.seed)
        let watchdog = Watchdog(progress, limit: self.limit) { target, number in
            Report.hang(self.targets[target], seed: self.seed, number: number, limit: self.limit)
            exit(1)
        }
        let portions = (self.inputs + Self.portion - 1) / Self.portion
        let board = Locked(
            Board(
                tallies: self.targets.map { _ in FuzzTally() }, portionsLeft: self.targets.map { _ in portions },
                begun: self.targets.map { _ in nil }))
        let begun = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            progress[worker].startOnThisThread()
            CrashHandler.useOwnStack()
            self.work(progress[worker], board, portions: portions)
        }
        watchdog.stop()
        let (failed, total) = board.withLock { ($0.failed, $0.tallies.reduce(0) { $0 + $1.count }) }
        let seconds = Int((begun.duration(to: .now) / .seconds(1)).rounded())
        print(
            "push-fuzz: \(total) inputs for \(self.targets.count) parsers, seed \(self.seed), in \(seconds) s: \(failed ? "FAILED" : "all held")."
        )
        return !failed
    }

    private func work(_ progress: WorkerProgress, _ board: Locked<Board>, portions: Int) {
        while let (target, numbers) = self.take(board, portions: portions) {
            progress.begin(target: target)
            let tally = self.targets[target].run(seed: self.seed, numbers: numbers) { progress.note($0) }
            progress.end()
            board.withLock { board in self.add(tally, of: target, to: &board) }
        }
    }

    private func take(_ board: Locked<Board>, portions: Int) -> (target: Int, numbers: Range<Int>)? {
        board.withLock { board in
            let target = board.nextPortion / portions
            guard target < self.targets.count, !board.failed else { return nil }
            let first = board.nextPortion % portions * Self.portion
            board.nextPortion += 1
            if board.begun[target] == nil { board.begun[target] = .now }
            return (target, first..<min(first + Self.portion, self.inputs))
        }
    }

    /// Whoever brings the last portion of a parser prints its line.
    private func add(_ tally: FuzzTally, of target: Int, to board: inout Board) {
        board.tallies[target].add(tally)
        board.portionsLeft[target] -= 1
        if let failure = tally.failure {
            board.failed = true
            Report.failure(self.targets[target], seed: self.seed, failure)
        } else if board.portionsLeft[target] == 0, let begun = board.begun[target] {
            print(Report.line(self.targets[target], board.tallies[target], took: begun.duration(to: .now)))
            if self.showsOutcomes { print(Report.outcomes(board.tallies[target]), terminator: "") }
            fflush(nil)
        }
    }
}
