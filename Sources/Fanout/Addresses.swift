import PushModel

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// The usable tokens of an account's devices, each given to one device: the same phone is not pushed to twice
/// because it is stored twice.
struct Addresses {
    struct Refusal: Error, Equatable {
        var cause: RefusedDelivery.Cause
    }

    private struct Address: Hashable {
        var platform: Platform
        var target: PushTarget
        var token: DeviceToken
    }

    private var tokens: [UUID: Result<DeviceToken, DeviceToken.Malformed>] = [:]
    private var owners: [Address: Device] = [:]

    /// A token that two devices share belongs to the one that is settled already, else to the one that registered it
    /// last; between equals, to the smaller id, so that every worker answers alike.
    init(_ facts: NotificationFacts) {
        self.tokens.reserveCapacity(facts.devices.count)
        for device in facts.devices {
            let token = Result { () throws(DeviceToken.Malformed) in
                try DeviceToken(stored: device.pushToken ?? "", platform: device.platform)
            }
            self.tokens[device.id] = token
            guard case .success(let usable) = token else { continue }
            let address = Self.address(device, usable)
            if let owner = self.owners[address], !Self.precedes(device, owner, settled: facts.settledDeviceIDs) {
                continue
            }
            self.owners[address] = device
        }
    }

    /// The token to send to, or why the device gets no push.
    func token(of device: Device) -> Result<DeviceToken, Refusal> {
        switch self.tokens[device.id] {
        case .success(let token):
            guard self.owners[Self.address(device, token)]?.id == device.id else {
                return .failure(Refusal(cause: .duplicateToken))
            }
            return .success(token)
        case .failure(let fault):
            return .failure(Refusal(cause: .malformed(fault)))
        case nil:
            return .failure(Refusal(cause: .malformed(.empty)))
        }
    }

    private static func address(_ device: Device, _ token: DeviceToken) -> Address {
        Address(platform: device.platform, target: device.pushTarget, token: token)
    }

    private static func precedes(_ device: Device, _ other: Device, settled: Set<UUID>) -> Bool {
        let isSettled = settled.contains(device.id)
        guard isSettled == settled.contains(other.id) else { return isSettled }
        let (updated, otherUpdated) = (device.pushTokenUpdatedAt, other.pushTokenUpdatedAt)
        guard updated == otherUpdated else {
            return (updated ?? .distantPast) > (otherUpdated ?? .distantPast)
        }
        return device.id.text < other.id.text
    }
}
