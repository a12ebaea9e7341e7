/// Where a delivery stands; the raw values are what `push.deliveries.state` says.
package enum DeliveryState: String, CaseIterable, Sendable {
    /// Ready at `scheduled_at`.
    case available
    /// In an open batch, or leased.
    case running
    /// The provider answered 200. Says nothing of display.
    case accepted
    /// Given up: dead token, refused, expired.
    case discarded
    /// Not wanted any more when its turn came: read, ignored, switched off, gone.
    case cancelled

    package var isFinal: Bool { self == .accepted || self == .discarded || self == .cancelled }
}
