/// A condition that did not come true in time.
package struct NotInTime: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Asks again and again until `condition` holds.
///
/// A last resort, for what gives no sign when it changes: a table another process writes, say. Await a line of output, a
/// notification or a continuation where there is one. The limit is for what never comes: on a busy machine, under the
/// thread sanitizer, what does come may take long.
package func eventually(
    within limit: Duration = .seconds(90), every interval: Duration = .milliseconds(20), file: String = #fileID,
    line: Int = #line, _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now.advanced(by: limit)
    while true {
        if try await condition() { return }
        guard ContinuousClock.now < end else {
            throw NotInTime("the condition at \(file):\(line) did not hold within \(limit)")
        }
        try await Task.sleep(for: interval)
    }
}
