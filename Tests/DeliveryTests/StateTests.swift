internal import DeliveryQueue
internal import Locking
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

@testable internal import Delivery

@Suite struct EndpointPausesTests {
    @Test func `an endpoint rests until the later end, and then needs a probe until something is accepted`()
        async throws
    {
        let pauses = EndpointPauses()
        #expect(pauses.remaining(.fcm) == nil)
        #expect(!pauses.needsProbe(.fcm))
        pauses.pause(.fcm, for: .seconds(60), .noAnswers)
        pauses.pause(.fcm, for: .milliseconds(1), .noAnswers)
        #expect(try #require(pauses.remaining(.fcm)) > .seconds(55))
        #expect(pauses.remaining(.apnsProduction) == nil)
        // Of a request from before the pause.
        pauses.proven(.fcm)
        #expect(pauses.remaining(.fcm) != nil)

        pauses.pause(.apnsProduction, for: .zero, .noAnswers)
        #expect(pauses.remaining(.apnsProduction) == nil)
        #expect(pauses.needsProbe(.apnsProduction))
        pauses.proven(.apnsProduction)
        #expect(!pauses.needsProbe(.apnsProduction))
    }
}

@Suite struct LatchTests {
    @Test(arguments: [1, 2, 50])
    func `it opens once, with the last count`(_ count: Int) async {
        let opened = Locked(0)
        let latch = Latch(count: count) { opened.withLock { $0 += 1 } }
        for _ in 1..<count { latch.countDown() }
        #expect(opened.withLock { $0 } == 0)
        latch.countDown()
        #expect(opened.withLock { $0 } == 1)
        latch.countDown()
        #expect(opened.withLock { $0 } == 1)
    }

    @Test func `counted down from many tasks it opens once`() async {
        let opened = Locked(0)
        let latch = Latch(count: 100) { opened.withLock { $0 += 1 } }
        await withDiscardingTaskGroup { group in
            for _ in 0..<100 { group.addTask { latch.countDown() } }
        }
        #expect(opened.withLock { $0 } == 1)
    }
}

@Suite struct BackOffTests {
    @Test func `waits grow to five seconds, each with a random share, and start anew`() {
        var backOff = BackOff()
        for width in [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000] {
            let wait = backOff.next()
            #expect(wait >= .milliseconds(width) / 2 && wait <= .milliseconds(width))
        }
        backOff.reset()
        #expect(backOff.next() <= .milliseconds(100))
    }
}

@Suite struct RecorderTests {
    private static func entry(_ number: Int) -> QueueRecord {
        var record = QueueRecord()
        record.settled = [UUID()]
        record.pauses = [PauseEntry(endpoint: .fcm, duration: .seconds(number), reason: "\(number)", fix: nil)]
        return record
    }

    private static func numbers(_ records: [QueueRecord]) -> [Int] {
        records.flatMap { $0.pauses.compactMap { Int($0.reason) } }
    }

    @Test func `everything added is written once, in order, also what comes while a flush is under way`() async {
        let recorder = Recorder()
        let written = Locked<[QueueRecord]>([])
        let total = 2000
        await withDiscardingTaskGroup { group in
            group.addTask {
                await recorder.run { record in
                    await Task.yield()
                    written.withLock { $0.append(record) }
                }
            }
            for number in 0..<total {
                recorder.add(Self.entry(number))
                if number % 50 == 0 { await Task.yield() }
            }
            recorder.finish()
        }
        let records = written.withLock { $0 }
        #expect(Self.numbers(records) == Array(0..<total))
        #expect(records.count < total)
        #expect(recorder.backlog == 0)
    }

    @Test func `many adders lose nothing`() async {
        let recorder = Recorder()
        let written = Locked<[QueueRecord]>([])
        await withDiscardingTaskGroup { group in
            group.addTask { await recorder.run { record in written.withLock { $0.append(record) } } }
            await withDiscardingTaskGroup { adders in
                for adder in 0..<16 {
                    adders.addTask { for number in 0..<200 { recorder.add(Self.entry(adder * 1000 + number)) } }
                }
            }
            recorder.finish()
        }
        let numbers = Self.numbers(written.withLock { $0 })
        #expect(numbers.count == 3200)
        #expect(Set(numbers).count == 3200)
        // Of one adder, in its order.
        #expect(numbers.filter { $0 / 1000 == 3 } == Array(3000..<3200))
    }

    @Test func `what was added before run and finish is written, and an empty record is nothing`() async {
        let recorder = Recorder()
        recorder.add(QueueRecord())
        #expect(recorder.backlog == 0)
        recorder.add(Self.entry(1))
        #expect(recorder.backlog == 2)
        recorder.finish()
        let written = Locked<[QueueRecord]>([])
        await recorder.run { record in written.withLock { $0.append(record) } }
        #expect(Self.numbers(written.withLock { $0 }) == [1])
    }
}
