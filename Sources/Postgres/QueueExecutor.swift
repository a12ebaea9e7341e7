internal import Dispatch

/// Runs an actor's jobs on one serial queue, so that a wait on a socket holds up a thread of that queue and none of the
/// shared pool the rest of the program runs on.
final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) {
        self.queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(self.queue))
    }
}
