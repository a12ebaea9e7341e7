package import struct FoundationEssentials.Date

/// Where the time comes from, for whatever has an age: the system's clocks, or a test's.
package struct TimeSource: Sendable {
    package let now: @Sendable () -> Moment

    package init(now: @escaping @Sendable () -> Moment) {
        self.now = now
    }

    package static let system = TimeSource { Moment(wall: Date(), monotonic: .now) }
}

/// One moment by two clocks.
///
/// Providers judge tokens by the time of day, but ours may be set while a token is in use, and then only the
/// monotonic clock knows how old the token is. That one, in turn, may stand still while a virtual machine does.
package struct Moment: Hashable, Sendable {
    package var wall: Date
    package var monotonic: ContinuousClock.Instant

    package init(wall: Date, monotonic: ContinuousClock.Instant) {
        self.wall = wall
        self.monotonic = monotonic
    }

    /// Whole seconds since 1970, rounded down.
    package var seconds: Int64 {
        Int64(exactly: self.wall.timeIntervalSince1970.rounded(.down)) ?? 0
    }

    /// How long ago `earlier` was, by the clock that saw more time pass; never negative.
    package func elapsed(since earlier: Moment) -> Duration {
        let wall = Duration.seconds(self.wall.timeIntervalSince(earlier.wall))
        return max(.zero, wall, earlier.monotonic.duration(to: self.monotonic))
    }
}
