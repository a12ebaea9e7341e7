/// `apns-push-type`, with the suffix each adds to the bundle ID in `apns-topic` (protocol.md A.3).
enum APNSPushType: String, CaseIterable {
    case alert, background, complication, controls, fileprovider, liveactivity, location, mdm, pushtotalk, voip, widgets

    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    var maxPayloadBytes: Int { self == .voip ? 5120 : 4096 }

    /// The bundle ID in a topic, or nil if the topic is not one of this push type.
    func bundleID(of topic: String) -> String? {
        guard self.topicSuffix.isEmpty else {
            guard topic.hasSuffix(self.topicSuffix), topic.count > self.topicSuffix.count else { return nil }
            return String(topic.dropLast(self.topicSuffix.count))
        }
        let isOther = Self.allCases.contains { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
        return isOther ? nil : topic
    }
}
