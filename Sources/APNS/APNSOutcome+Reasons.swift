extension APNSOutcome {
    /// Every reason Apple documents: a closed set, for metrics.
    package static let knownReasons = APNSReaction.table.map(\.reason)
}
