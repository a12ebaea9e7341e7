/// A queue whose ends cost the same however long it is.
struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { self.elements.count - self.head }
    var isEmpty: Bool { self.count == 0 }

    mutating func append(contentsOf new: [Element]) {
        self.elements.append(contentsOf: new.map(Optional.some))
    }

    /// The first `count` elements, or as many as there are.
    mutating func removeFirst(_ count: Int) -> [Element] {
        let end = min(self.head + count, self.elements.count)
        var taken: [Element] = []
        taken.reserveCapacity(end - self.head)
        for index in self.head..<end {
            if let element = self.elements[index] { taken.append(element) }
            self.elements[index] = nil
        }
        self.head = end
        // Moves the rest at most once for every element taken.
        if self.head * 2 >= self.elements.count {
            self.elements.removeFirst(self.head)
            self.head = 0
        }
        return taken
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        var kept: [Element?] = []
        for case let element? in self.elements[self.head...] {
            if isRemoved(element) { removed.append(element) } else { kept.append(element) }
        }
        self.elements = kept
        self.head = 0
        return removed
    }
}
