internal import APNS
internal import JSONWebToken
internal import Testing

internal import struct FoundationEssentials.Date

/// Minutes after the start of a half hour, on both clocks.
private enum At {
    static let slot: Int64 = 994_444 * 1800
    static let origin = ContinuousClock.Instant.now

    /// - Parameter wall: minutes on the time of day, where it does not go along with the other clock.
    static func minute(_ minutes: Double, wall: Double? = nil) -> Moment {
        Moment(
            wall: Date(timeIntervalSince1970: Double(slot) + (wall ?? minutes) * 60),
            monotonic: origin.advanced(by: .seconds(minutes * 60))
        )
    }

    static func seconds(_ minutes: Int64) -> Int64 { slot + minutes * 60 }
}

@Suite struct ProviderTokenScheduleTests {
    /// A schedule whose token was made at `minute`, as the schedule itself wants it.
    private static func started(at minute: Double) -> ProviderTokenSchedule {
        var schedule = ProviderTokenSchedule()
        if case .mint(let issuedAt) = schedule.step(at: At.minute(minute)) {
            schedule.adopt(generation: 1, issuedAt: issuedAt, at: At.minute(minute))
        }
        return schedule
    }

    @Test(arguments: [0, 0.5, 10, 29.98])
    func `whoever starts within a half hour claims its start`(_ minute: Double) {
        #expect(ProviderTokenSchedule().step(at: At.minute(minute)) == .mint(issuedAt: At.slot))
        #expect(ProviderTokenSchedule().step(at: At.minute(minute + 30)) == .mint(issuedAt: At.seconds(30)))
    }

    @Test(arguments: [0, 1, 10, 19.9, 20, 25, 29.98])
    func `over a day no token is used for less than 20 minutes, nor until its hour is over`(_ start: Double) {
        var schedule = ProviderTokenSchedule()
        var adopted: [(minute: Double, issuedAt: Int64)] = []
        for step in 0...(24 * 60 * 6) {
            let minute = start + Double(step) / 6
            let now = At.minute(minute)
            if case .mint(let issuedAt) = schedule.step(at: now) {
                schedule.adopt(generation: adopted.count + 1, issuedAt: issuedAt, at: now)
                if let last = adopted.last {
                    #expect(minute - last.minute >= 20)
                    #expect(issuedAt - last.issuedAt >= 20 * 60)
                }
                adopted.append((minute, issuedAt))
            }
            if let current = adopted.last {
                let age = now.seconds - current.issuedAt
                #expect(age >= 0 && age <= 50 * 60)
            }
            #expect(schedule.isUsable(at: now))
        }
        // One for every half hour, and one for the start.
        #expect((48...50).contains(adopted.count))
        #expect(adopted.allSatisfy { $0.issuedAt % ProviderTokenSchedule.slot == 0 })
    }

    @Test func `workers that started at different times come to claim the same`() {
        let now = At.minute(50)
        #expect(Self.started(at: 0).step(at: now) == .mint(issuedAt: At.seconds(30)))
        #expect(Self.started(at: 29).step(at: now) == .mint(issuedAt: At.seconds(30)))
        #expect(ProviderTokenSchedule().step(at: now) == .mint(issuedAt: At.seconds(30)))
    }

    @Test(arguments: [(20, false), (49.9, false), (50, true), (57, true), (200, true)])
    func `a token is replaced at 50 minutes`(_ minute: Double, _ isReplaced: Bool) {
        #expect((Self.started(at: 0).step(at: At.minute(minute)) != .keep) == isReplaced)
    }

    // MARK: - Two clocks

    @Test func `a clock that was set back does not keep an old token alive`() {
        let schedule = Self.started(at: 5)
        #expect(schedule.step(at: At.minute(49, wall: 9)) == .keep)
        // 50 minutes old by the monotonic clock, 10 by the other.
        #expect(schedule.step(at: At.minute(50, wall: 10)) == .mint(issuedAt: At.slot))
    }

    @Test func `time that passed while the machine slept counts`() {
        let schedule = Self.started(at: 5)
        #expect(schedule.step(at: At.minute(6, wall: 58)) == .mint(issuedAt: At.seconds(30)))
        #expect(!schedule.isUsable(at: At.minute(6, wall: 61)))
    }

    @Test func `a token in use for less than 20 minutes waits, but not beyond 58`() {
        let schedule = Self.started(at: 5)
        // The clock was set forward by 45 minutes.
        #expect(schedule.step(at: At.minute(7, wall: 52)) == .keep)
        #expect(schedule.step(at: At.minute(12, wall: 57)) == .keep)
        #expect(schedule.step(at: At.minute(13, wall: 58)) == .mint(issuedAt: At.seconds(30)))
    }

    @Test func `a token from the future is replaced at once`() {
        let schedule = Self.started(at: 5)
        #expect(schedule.step(at: At.minute(6, wall: -1)) == .keep)
        #expect(schedule.step(at: At.minute(6, wall: -2)) == .mint(issuedAt: At.seconds(-30)))
    }

    @Test func `a clock that was never set gives a token too`() {
        let unset = Moment(wall: Date(timeIntervalSince1970: 7), monotonic: At.origin)
        #expect(ProviderTokenSchedule().step(at: unset) == .mint(issuedAt: 0))
        let before = Moment(wall: Date(timeIntervalSince1970: -1), monotonic: At.origin)
        #expect(ProviderTokenSchedule().step(at: before) == .mint(issuedAt: -1800))
        let absurd = Moment(wall: Date(timeIntervalSince1970: .infinity), monotonic: At.origin)
        #expect(ProviderTokenSchedule().step(at: absurd) == .mint(issuedAt: 0))
    }

    // MARK: - Answers

    @Test func `an expired token is replaced by one of this second`() {
        let schedule = Self.started(at: 5)
        #expect(schedule.expired(generation: 1, at: At.minute(19.9)) == .tooYoung)
        #expect(schedule.expired(generation: 1, at: At.minute(25)) == .mint(issuedAt: At.seconds(25)))
        #expect(schedule.expired(generation: 0, at: At.minute(25)) == .alreadyReplaced)
        #expect(ProviderTokenSchedule().expired(generation: 0, at: At.minute(25)) == .alreadyReplaced)
    }

    @Test func `a token made after expiry goes back to the grid at its own 50 minutes`() {
        var schedule = Self.started(at: 5)
        schedule.adopt(generation: 2, issuedAt: At.seconds(25), at: At.minute(25))
        #expect(schedule.expired(generation: 2, at: At.minute(44)) == .tooYoung)
        #expect(schedule.step(at: At.minute(74)) == .keep)
        #expect(schedule.step(at: At.minute(75)) == .mint(issuedAt: At.seconds(60)))
    }

    @Test func `after too many updates the token stays 20 minutes, but not beyond 58`() {
        var schedule = Self.started(at: 0)
        schedule.tooManyUpdates(at: At.minute(49))
        #expect(schedule.step(at: At.minute(50)) == .keep)
        #expect(schedule.step(at: At.minute(57.9)) == .keep)
        #expect(schedule.step(at: At.minute(58)) == .mint(issuedAt: At.seconds(30)))

        schedule = Self.started(at: 0)
        schedule.tooManyUpdates(at: At.minute(32))
        #expect(schedule.step(at: At.minute(51)) == .keep)
        #expect(schedule.step(at: At.minute(52)) == .mint(issuedAt: At.seconds(30)))
    }
}
