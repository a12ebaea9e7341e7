internal import PushModel

internal import struct FoundationEssentials.Date

/// What the queue's words mean, as sentences for whoever is on call: capital first, no full stop at the end.
enum Explanation {
    static func decision(_ decision: String, kind: String?) -> String {
        switch FanoutDecision(rawValue: decision) {
        case .fannedOut: "It was to be pushed to every device that has a token"
        case .switchedOff: "The account has switched \(Self.switchName(kind)) off"
        case .coalesced:
            "An earlier unread notification of the same kind and connection says the same, so this one was not pushed"
        case .alreadyRead: "It had been read before it could be pushed"
        case .ignored: "It had been ignored before it could be pushed"
        case .noDevices: "The account had no device with a usable token"
        case .unknownKind: "\(kind.map { "The kind \($0)" } ?? "Its kind") is none that is pushed"
        case .tooOld: "It was older than its lifetime when its turn came"
        case .gone: "The notification or its account was gone when its turn came"
        case .cancelled: "An operator cancelled it before it was sent"
        case nil: "Decided \(decision), a word this version does not know"
        }
    }

    /// Of one line of the history.
    static func attempt(_ outcome: String, state: DeliveryState, status: Int?, reason: String?) -> String {
        let answer = status.map { "HTTP \($0)" } ?? "no answer"
        let because = reason.map { ", \($0)" } ?? ""
        switch outcome {
        case "accepted": return "The provider accepted it"
        case "retry": return "The provider asked to try again (\(answer)\(because))" + Self.end(state, reason)
        case "device_dead": return "The provider says that the app is no longer installed there (\(answer)\(because))"
        case "bad_device_token": return "The provider does not know the token (\(answer)\(because))"
        case "rejected": return "The provider refused our request (\(answer)\(because))"
        case "misconfigured": return "The provider refuses our configuration (\(answer)\(because))"
        case "unknown": return "What became of it is not known (\(answer)\(because))" + Self.end(state, reason)
        case "retried": return "An operator put it back to be tried again"
        default: return Self.ending(state, reason: reason)
        }
    }

    private static func end(_ state: DeliveryState, _ reason: String?) -> String {
        state == .discarded ? ", and it was given up" : ""
    }

    /// Why a delivery ended without being accepted.
    static func ending(_ state: DeliveryState, reason: String?) -> String {
        switch reason.flatMap(DeliveryReason.init(rawValue:)) {
        case .alreadyRead: return "It was read before the push was sent"
        case .ignored: return "It was ignored before the push was sent"
        case .gone: return "The notification or its account was deleted before the push was sent"
        case .switchedOff: return "The account switched this kind off before the push was sent"
        case .tokenChanged: return "The device got another token, or lost it, before the push was sent"
        case .unknownKind: return "Its kind is none that is pushed"
        case .operator: return "An operator cancelled it"
        case .expired: return "Its lifetime ended before the provider accepted it"
        case .exhausted: return "It was tried as often as allowed, and the provider never accepted it"
        case .providerNotConfigured: return "The provider of this platform is not configured"
        case .duplicateToken: return "Another device of the account has the same token and got the push"
        case .workersLost: return "Worker after worker was lost while sending it, so it was given up"
        case nil: break
        }
        switch reason {
        case "Unregistered", "UNREGISTERED", "ExpiredToken":
            return "The app is no longer installed there: the provider calls the token dead (\(reason ?? ""))"
        case "BadDeviceToken": return "The provider does not know the token (BadDeviceToken)"
        default:
            let word = reason.map { " (\($0))" } ?? ""
            return state == .cancelled ? "It was cancelled\(word)" : "The provider refused it for good\(word)"
        }
    }

    static func delivery(_ row: DeliveryRow, now: Date) -> String {
        switch row.state {
        case .accepted:
            let name = row.platform.map { $0 == .ios ? "APNs" : "FCM" } ?? "The provider"
            return "\(name) accepted it; if the phone stayed silent, the cause is there: "
                + "notifications off, a Focus, or no network"
        case .discarded, .cancelled: return Self.ending(row.state, reason: row.reason)
        case .running: return row.attempt == 0 ? "It is being sent now" : "It is being tried again now"
        case .available:
            let tries =
                row.attempt == 0
                ? "It has not been tried yet" : "\(row.attempt) \(row.attempt == 1 ? "try" : "tries") so far"
            if row.reason == "provider_paused" { return tries + ", it goes when the provider is resumed" }
            let why = row.reason.map { $0 == "operator" ? " (put back by an operator)" : " (last: \($0))" } ?? ""
            guard let due = row.scheduledAt else { return tries + why + ", it waits for a worker" }
            let wait = due <= now ? "it is due now" : "the next try is due at \(MomentText.tell(due))"
            return tries + why + ", \(wait)"
        }
    }

    static func paused(_ pause: ProviderState.Pause, at endpoint: ProviderEndpoint) -> String {
        let end = pause.until.map { "until \(MomentText.tell($0))" } ?? "until an operator resumes it"
        return "\(endpoint.rawValue) is paused \(end): \(pause.reason)"
    }

    /// A device that got no delivery.
    static func silent(
        _ device: DeviceRow, decision: String?, kind: String?, isQueued: Bool
    ) -> String {
        if let since = device.tokenInvalidatedAt {
            let why = device.tokenInvalidReason.map { " (\($0))" } ?? ""
            return "Its token was marked dead at \(MomentText.tell(since))\(why): the app must register again"
        }
        guard device.hasToken else { return "It has no push token: the app never registered one, or signed out" }
        guard Platform(rawValue: device.platform) != nil else {
            return "Its platform \(device.platform) is none that is pushed to"
        }
        if let decision {
            guard decision == FanoutDecision.fannedOut.rawValue else { return Self.decision(decision, kind: kind) }
            return "It had no usable token when the notification was decided, or was registered later"
        }
        return isQueued ? "The notification is not decided yet" : "Nothing was ever decided about the notification"
    }

    private static func switchName(_ kind: String?) -> String {
        switch kind.flatMap(NotificationKind.init(named:))?.accountSwitch {
        case .invitations: "pushes of invitations (notify_invitations)"
        case .contactUpdates: "pushes of contact updates (notify_contact_updates)"
        case .circleChanges: "pushes of circle changes (notify_circle_changes)"
        case nil: "pushes of this kind"
        }
    }
}
