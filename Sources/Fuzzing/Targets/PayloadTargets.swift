import APNS
import FoundationEssentials
import Localization
import PushModel

/// What leaves for the phones, made of what came from them.
extension FuzzTarget {
    private struct Read: Decodable {
        struct APS: Decodable {
            struct Alert: Decodable {
                var title: String
                var body: String?
            }

            var alert: Alert
            var badge: Int
            var sound: String?
        }

        var aps: APS
        var id: String
        var kind: String
    }

    static let apnsPayload = FuzzTarget(
        "apns-payload",
        [
            "title": Corpus(
                .prose, ["Anna updated her details", String(repeating: "\"", count: 3000)], proseLength: 30),
            "body": Corpus(
                .prose, ["Phone number", String(repeating: "x", count: 3990), String(repeating: "👨‍👩‍👧‍👦", count: 170)],
                unchangedOneIn: 16, proseLength: 40),
        ]
    ) { input throws(FuzzFinding) in
        var random = input.random
        let isClean = random.oneIn(2)
        // Whole pieces of text are repeated, so that every length around the limit comes up.
        let times = random.oneIn(12) ? 1 + random.below(40) : 1
        let body = input.text(1).map { String(repeating: $0, count: times) }
        let text = RenderedText(
            title: (isClean ? DisplayText.title(input.text) : input.text) ?? "Someone",
            body: isClean ? body.flatMap(DisplayText.body) : body)
        let kind = random.pick(NotificationKind.all, or: .system)
        let badge = random.pick([0, 1, 99, .max, .min], or: 0)
        let id = UUID()
        let sound = random.pick(["default", "", nil], or: nil)
        let bytes = APNSPayload(text: text, badge: badge, sound: sound, kind: kind, notificationID: id).encoded()

        try expect((1...APNSPayload.longest).contains(bytes.count), "\(bytes.count) bytes")
        guard let read = try? JSONDecoder().decode(Read.self, from: Data(bytes)) else {
            throw FuzzFinding("no JSON: \(String(decoding: bytes.prefix(300), as: UTF8.self))")
        }
        try expect(read.id == id.text && read.kind == kind.name && read.aps.badge == badge, "another id, kind or badge")
        try expect(read.aps.sound == (sound == "" ? nil : sound), "the sound \(read.aps.sound ?? "nil")")
        let isTitleWhole = read.aps.alert.title.isSame(as: text.title)
        let isBodyWhole = read.aps.alert.body.map { $0.isSame(as: text.body ?? "") } ?? (text.body == nil)
        if !isTitleWhole {
            try expect(read.aps.alert.body == nil, "the title is cut before the body")
            try Self.checkCut(read.aps.alert.title, of: text.title)
        }
        if !isBodyWhole, let cut = read.aps.alert.body { try Self.checkCut(cut, of: text.body ?? "") }
        if isTitleWhole, isBodyWhole { return .read("whole") }
        return .read(isTitleWhole ? (read.aps.alert.body == nil ? "body gone" : "body cut") : "title cut")
    }

    /// A cut text is a beginning of the whole that ends between two graphemes, but for space left out at its end.
    private static func checkCut(_ cut: String, of whole: String) throws(FuzzFinding) {
        try expect(cut.unicodeScalars.last == "…", "no sign of the cut in \(cut.suffix(40))")
        let kept = cut.unicodeScalars.dropLast()
        let scalars = whole.unicodeScalars
        try expect(scalars.starts(with: kept), "not a beginning of the whole: \(cut.suffix(40))")
        var end = scalars.index(scalars.startIndex, offsetBy: kept.count)
        while String.Index(end, within: whole) == nil {
            guard end < scalars.endIndex, scalars[end].properties.isWhitespace else {
                throw FuzzFinding("cut inside a grapheme: \(cut.suffix(40))")
            }
            scalars.formIndex(after: &end)
        }
    }

    static let deviceToken = FuzzTarget(
        "device-token",
        [
            "token": Corpus(
                .bytes,
                [
                    String(repeating: "0123456789abcdef", count: 4),
                    "<00FC13AD FF785122 B4AD2880 9A3420982341241421348097>",
                    "cXk3:APA91bH-_example", " fGw0qy4TQfmX:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx\n", "",
                ])
        ]
    ) { input throws(FuzzFinding) in
        var random = input.random
        let platform = random.oneIn(2) ? Platform.ios : .android
        switch Result(catching: { () throws(DeviceToken.Malformed) in
            try DeviceToken(stored: input.text, platform: platform)
        }) {
        case .success(let token):
            let text = token.text
            try expect((try? DeviceToken(stored: text, platform: platform)) == token, "\(text) changes again")
            switch platform {
            case .ios:
                let isHexadecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
                try expect(isHexadecimal && (16...400).contains(text.utf8.count), "the token \(text)")
            case .android:
                let isWord = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                try expect(isWord && (1...4096).contains(text.utf8.count), "the token \(text)")
            }
            return .read(platform.rawValue)
        case .failure(let error):
            return .refused("\(platform.rawValue) \(error.rawValue)")
        }
    }
}
