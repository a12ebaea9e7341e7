import Testing

@testable internal import HTTPTransport

struct AnswerBufferTests {
    private func buffer(_ lines: [String], body: String = "") -> AnswerBuffer {
        var buffer = AnswerBuffer()
        for line in lines { Array("\(line)\r\n".utf8).withUnsafeBytes { buffer.appendHeader($0) } }
        Array(body.utf8).withUnsafeBytes { buffer.appendBody($0) }
        return buffer
    }

    @Test func `names are lower-cased and the last of a repeated one counts`() {
        let buffer = self.buffer(
            ["HTTP/2 400 ", "Apns-Id: A: B ", "x:1", "x:  2\t", "no colon", "empty:", ""], body: "{}")
        #expect(
            buffer.makeAnswer(isComplete: true)
                == HTTPAnswer(status: 400, headers: ["apns-id": "A: B", "x": "2", "empty": ""], body: [0x7B, 0x7D])
        )
    }

    @Test func `an interim answer is forgotten`() {
        let buffer = self.buffer(["HTTP/2 103", "link: x", "", "HTTP/2 200", "a: b", ""])
        #expect(buffer.makeAnswer(isComplete: true) == HTTPAnswer(status: 200, headers: ["a": "b"]))
    }

    @Test(arguments: [
        (lines: [], body: "", isAnswer: false),
        (["HTTP/2 100"], "", false),
        (["HTTP/2 200"], "", true),
        (["HTTP/2 200"], "{\"na", true),
        (["HTTP/2 410"], "{\"rea", false),
        (["HTTP/2 410", "content-length: 5"], "{\"rea", true),
        (["HTTP/2 410", "content-length: 6"], "{\"rea", false),
        (["HTTP/2 500", "content-length: 0"], "", true),
        (["nonsense"], "", false),
        (["HTTP/2 abc"], "", false),
    ])
    func `of an answer that broke off only some count`(lines: [String], body: String, isAnswer: Bool) {
        #expect((self.buffer(lines, body: body).makeAnswer(isComplete: false) != nil) == isAnswer)
    }

    @Test func `nothing is kept for the next answer`() {
        var buffer = self.buffer(["HTTP/2 400", "a: b"], body: "x")
        buffer.reset()
        #expect(buffer.makeAnswer(isComplete: true) == nil)
        Array("HTTP/2 200".utf8).withUnsafeBytes { buffer.appendHeader($0) }
        #expect(buffer.makeAnswer(isComplete: true) == HTTPAnswer(status: 200))
    }
}

struct FirstInFirstOutTests {
    @Test func `elements come out as they went in`() {
        var queue = FirstInFirstOut<Int>()
        var expected: [Int] = []
        var taken: [Int] = []
        for round in 0..<50 {
            let new = Array((round * 10)..<(round * 10 + round % 7))
            queue.append(contentsOf: new)
            expected += new
            taken += queue.removeFirst(round % 5)
            #expect(queue.count == expected.count - taken.count)
        }
        taken += queue.removeFirst(1000)
        #expect(taken == expected)
        #expect(queue.isEmpty)
    }

    @Test func `some can be taken out of the middle`() {
        var queue = FirstInFirstOut<Int>()
        queue.append(contentsOf: Array(0..<10))
        _ = queue.removeFirst(2)
        #expect(queue.removeAll { $0 % 3 == 0 } == [3, 6, 9])
        #expect(queue.removeFirst(10) == [2, 4, 5, 7, 8])
    }
}
