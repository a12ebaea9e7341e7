private import Glibc

/// How many files and sockets the process may have open.
package enum DescriptorLimit {
    /// Raises the soft limit to the hard one, up to `most`: the default of 1024 is for programs that use `select`.
    ///
    /// - Returns: the limit that holds now.
    @discardableResult
    package static func raise(to most: Int = 65_536) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        let wanted = min(limit.rlim_max, rlim_t(most))
        if wanted > limit.rlim_cur {
            let before = limit.rlim_cur
            limit.rlim_cur = wanted
            if setrlimit(resource, &limit) != 0 { limit.rlim_cur = before }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
