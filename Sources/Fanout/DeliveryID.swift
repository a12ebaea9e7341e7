import Cryptography

package import struct FoundationEssentials.UUID

/// The id of a delivery, also its `apns-id`: known before anything about it was stored, and the same after a crash.
package enum DeliveryID {
    /// The namespace of our version 5 UUIDs (RFC 9562 section 5.5). Drawn once at random. Changing it would send
    /// whatever waits a second time under another id.
    static let namespace = UUID(
        uuid: (0x6F, 0x1B, 0xD2, 0x5E, 0x3C, 0x94, 0x4A, 0x87, 0xB0, 0x59, 0xE4, 0x72, 0x1D, 0xA6, 0x38, 0xC1))

    /// UUIDv5 over the sixteen bytes of the notification's id and the sixteen of the device's.
    package static func make(notification: UUID, device: UUID) -> UUID {
        let name = withUnsafeBytes(of: notification.uuid) { Array($0) } + withUnsafeBytes(of: device.uuid) { Array($0) }
        return UUID.version5(namespace: self.namespace, name: name)
    }
}
