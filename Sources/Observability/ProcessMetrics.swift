private import FoundationEssentials
private import Glibc

/// What the kernel says of this process, under the names every Prometheus client uses.
package enum ProcessMetrics {
    package static let startTime = Metric(
        "process_start_time_seconds", .gauge, "When the process started, in seconds since 1970.")
    package static let residentMemory = Metric(
        "process_resident_memory_bytes", .gauge, "Memory the process holds in RAM, in bytes.")
    package static let processorTime = Metric(
        "process_cpu_seconds_total", .counter, "Processor time spent, user and system, in seconds.")
    package static let openFiles = Metric("process_open_fds", .gauge, "Open file descriptors.")
    package static let mostFiles = Metric("process_max_fds", .gauge, "The most file descriptors that may be open.")
    package static let threads = Metric("process_threads", .gauge, "Threads of the process.")

    package static let all = [startTime, residentMemory, processorTime, openFiles, mostFiles, threads]

    /// Reads `/proc/self`; what cannot be read is left out.
    package static func collect(_ update: inout MetricsUpdate) {
        if let stat = Self.text("/proc/self/stat") {
            // The name, in brackets, may hold spaces. Behind it: utime and stime 12th and 13th, threads 18th, start
            // 20th, resident pages 22nd (proc(5)).
            let fields = stat.drop { $0 != ")" }.split(separator: " ").dropFirst().map(String.init)
            let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
            if fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
                let threads = Double(fields[17]), let start = Double(fields[19]), let pages = Double(fields[21])
            {
                update.set(Self.processorTime, (user + system) / ticks)
                update.set(Self.threads, threads)
                if let boot = Self.bootTime { update.set(Self.startTime, boot + start / ticks) }
                update.set(Self.residentMemory, pages * Double(sysconf(Int32(_SC_PAGESIZE))))
            }
        }
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            update.set(Self.openFiles, files.count)
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            update.set(Self.mostFiles, Double(limit.rlim_cur))
        }
    }

    private static let bootTime: Double? = Self.text("/proc/stat")?.split(separator: "\n")
        .first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension MetricsUpdate {
    fileprivate mutating func set(_ metric: Metric, _ value: Double) { self.set(metric, [], value) }
    fileprivate mutating func set(_ metric: Metric, _ value: Int) { self.set(metric, [], Double(value)) }
}
