/// The changes: each keeps most of the input, so that several can be made one after the other.
extension [UInt8] {
    private func place(_ random: inout FuzzRandom) -> Int { random.below(self.count + 1) }

    /// A piece, short ones more often.
    private func piece(_ random: inout FuzzRandom) -> Range<Int> {
        let start = self.place(&random)
        let length = random.below(1 + Swift.min(self.count - start, random.oneIn(3) ? self.count : 8))
        return start..<(start + length)
    }

    mutating func flipBit(_ random: inout FuzzRandom) {
        guard !self.isEmpty else { return }
        self[random.below(self.count)] ^= 1 << UInt8(random.below(8))
    }

    mutating func setByte(_ random: inout FuzzRandom) {
        guard !self.isEmpty else { return }
        self[random.below(self.count)] = random.oneIn(2) ? UInt8(0x20 + random.below(0x5F)) : UInt8(random.below(256))
    }

    mutating func cut(_ random: inout FuzzRandom) {
        if random.oneIn(4) {
            self.removeSubrange(..<self.place(&random))
        } else {
            self.removeSubrange(self.place(&random)...)
        }
    }

    mutating func removePiece(_ random: inout FuzzRandom) {
        self.removeSubrange(self.piece(&random))
    }

    mutating func repeatPiece(_ random: inout FuzzRandom) {
        let range = self.piece(&random)
        guard !range.isEmpty else { return }
        let times = random.oneIn(20) ? 1 + random.below(Swift.max(1, 2048 / range.count)) : 1 + random.below(3)
        self.insert(contentsOf: (0..<times).flatMap { _ in self[range] }, at: range.upperBound)
    }

    mutating func movePiece(_ random: inout FuzzRandom) {
        let range = self.piece(&random)
        let piece = Array(self[range])
        self.removeSubrange(range)
        self.insert(contentsOf: piece, at: self.place(&random))
    }

    /// Goes on with the end of another.
    mutating func splice(_ other: [UInt8], _ random: inout FuzzRandom) {
        self.removeSubrange(self.place(&random)...)
        self.append(contentsOf: other[random.below(other.count + 1)...])
    }

    mutating func insertPiece(_ piece: [UInt8], _ random: inout FuzzRandom) {
        let place = self.place(&random)
        let end = Swift.min(self.count, place + (random.oneIn(2) ? piece.count : 0))
        self.replaceSubrange(place..<end, with: piece)
    }

    /// Exchanges a run of digits for a telling number.
    mutating func replaceNumber(_ random: inout FuzzRandom) {
        let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) }
        let from = self.place(&random)
        guard let start = self[from...].firstIndex(where: isDigit) ?? self.firstIndex(where: isDigit) else { return }
        let end = self[start...].firstIndex { !isDigit($0) } ?? self.endIndex
        let number = random.oneIn(2) ? String(random.below(100)) : random.pick(Words.numbers, or: "0")
        self.replaceSubrange(start..<end, with: Array(number.utf8))
    }

    /// Repeats a piece until the whole is `length` long: what is quadratic shows.
    mutating func stretch(_ random: inout FuzzRandom, to length: Int) {
        let range = self.piece(&random)
        guard !range.isEmpty, self.count < length else { return }
        let piece = Array(self[range])
        let times = (length - self.count) / piece.count
        self.insert(contentsOf: (0..<times).flatMap { _ in piece }, at: range.upperBound)
    }
}
