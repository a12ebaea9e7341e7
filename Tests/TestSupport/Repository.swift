/// Where things lie in the checkout the tests were built from.
package enum Repository {
    /// Without a slash at the end.
    package static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
}
