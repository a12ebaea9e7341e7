import FoundationEssentials
import Localization
import PushModel
import TestSupport
import Testing

@testable import APNS

let catalog = Result { () throws(LanguageError) in
    try LanguageCatalog.load(directory: "\(Repository.root)/templates")
}

/// The request for a notification and an iPhone with that locale.
func request(_ notification: Notification, kind: NotificationKind, locale: String = "en", badge: Int = 3) throws
    -> APNSRequest
{
    let delivery = try Sample.delivery(notification, kind: kind, device: Sample.iPhone(), badge: badge)
    let text = try catalog.get().render(notification, kind: kind, locale: locale)
    return APNSRequest(delivery: delivery, text: text, topic: "org.example.app", sound: "default")
}

/// The payload of a `system` notification, which may say anything.
func system(title: String, body: String?) -> APNSPayload {
    APNSPayload(
        text: RenderedText(title: title, body: body), badge: 3, sound: "default", kind: .system,
        notificationID: Sample.id(1))
}

@Suite struct APNSPayloadTests {
    static let notifications: [(NotificationKind, Notification)] = [
        (.invitationReceived, Sample.notification(.invitationReceived)),
        (.invitationAccepted, Sample.notification(.invitationAccepted)),
        (.contactUpdated, Sample.notification(.contactUpdated, pronoun: .she, categories: ["phone", "address"])),
        (.circleChanged, Sample.notification(.circleChanged)),
        (
            .system,
            Sample.notification(
                .system,
                translations: [
                    "en": .init(title: "Maintenance", body: "Tonight from 11 to 12."),
                    "nl": .init(title: "Onderhoud", body: "Vanavond van 11 tot 12."),
                ])
        ),
    ]

    @Test(arguments: notifications, ["en", "nl"])
    func bodiesAreThoseOnFile(_ sample: (kind: NotificationKind, notification: Notification), _ locale: String) throws {
        let request = try request(sample.notification, kind: sample.kind, locale: locale)
        Golden.expect(request.body, is: "apns/\(sample.kind.name)-\(locale).json")
    }

    /// The example of the design, word for word.
    @Test func theBodyIsThatOfTheDesign() throws {
        let notification = Sample.notification(.contactUpdated, pronoun: .she, categories: ["phone", "address"])
        let body = String(decoding: try request(notification, kind: .contactUpdated).body, as: UTF8.self)
        #expect(
            body == """
                {"aps":{"alert":{"body":"Phone number and address","title":"Anna updated her details"},"badge":3,\
                "content-available":1,"sound":"default","thread-id":"contact_updated"},\
                "id":"00000000-0000-4000-8000-000000000001","kind":"contact_updated"}
                """)
    }

    @Test(arguments: [
        "emoji-family": "👨‍👩‍👧‍👦 👩🏽‍❤️‍💋‍👨🏾", "flags": "🇳🇱🇧🇪🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴‍☠️", "skin-tones": "👍🏻👍🏽👍🏿", "combining": "Zoe\u{308} N\u{323}\u{302}ga",
        "arabic": "أحمد", "hebrew": "משה כהן", "persian": "علی\u{200C}رضا", "cyrillic": "Анна", "chinese": "王小明",
        "bidi-override": "Anna\u{202E}", "quotes": "\"Anna\" 'B' \u{201C}C\u{201D}", "backslash": "An\\na\\",
        "newline": "An\nna\r\n",
        "tab": "An\tna", "null": "An\u{0}na", "control": "A\u{1}nna\u{7F}", "line-separator": "An\u{2028}na",
        "markup": "<img onerror=\"x()\"> & </script>", "slash": "a/b", "placeholder": "{categories} %@",
        "hundred": String(repeating: "Å", count: 100), "hundred-and-one": String(repeating: "👩‍🚀", count: 101),
        "only-emoji": String(repeating: "🎉", count: 1000), "empty": "", "invisible": "\u{200B}\u{202E}\u{301}",
    ])
    func hardNamesAreThoseOnFile(_ name: String, _ actor: String) throws {
        let request = try request(Sample.notification(.circleChanged, actor: actor), kind: .circleChanged)
        Golden.expect(request.body, is: "apns/names/\(name).json")
        // Whatever stands in the file: it is JSON, and says what was rendered.
        let decoded = try JSONDecoder().decode(Decoded.self, from: Data(request.body))
        let text = try catalog.get().render(
            Sample.notification(.circleChanged, actor: actor), kind: .circleChanged, locale: "en")
        #expect(Array(decoded.aps.alert.title.utf8) == Array(text.title.utf8))
        #expect(!request.body.contains(0x0A))
    }

    struct Decoded: Decodable {
        struct APS: Decodable {
            struct Alert: Decodable {
                var title: String
                var body: String?
            }

            var alert: Alert
        }

        var aps: APS
    }

    // MARK: - Keys

    @Test func aBadgeOfZeroIsSent() throws {
        let body = try request(Sample.notification(), kind: .contactUpdated, badge: 0).body
        #expect(String(decoding: body, as: UTF8.self).contains("\"badge\":0,"))
    }

    @Test(arguments: [nil, ""])
    func withoutASoundTheKeyIsAbsent(_ sound: String?) {
        let payload = APNSPayload(
            text: RenderedText(title: "T", body: nil), badge: 1, sound: sound, kind: .system,
            notificationID: Sample.id(1))
        #expect(
            String(decoding: payload.encoded(), as: UTF8.self)
                == "{\"aps\":{\"alert\":{\"title\":\"T\"},\"badge\":1,\"content-available\":1,\"thread-id\":\"system\"},"
                + "\"id\":\"00000000-0000-4000-8000-000000000001\",\"kind\":\"system\"}")
    }

    // MARK: - Size

    /// Bodies in units of one to many bytes, so long that the payload has exactly `bytes` bytes uncut.
    private func filled(_ unit: String, to bytes: Int) -> (body: String, payload: APNSPayload) {
        let room = bytes - system(title: "T", body: "").encoded().count
        let escaped = unit == "\"" || unit == "\\" || unit == "\n" ? 2 : unit.utf8.count
        let body =
            String(repeating: unit, count: room / escaped)
            + String(repeating: "x", count: room % escaped)
        return (body, system(title: "T", body: body))
    }

    static let units = ["x", "é", "€", "😀", "\"", "\\", "\n", "e\u{301}", "🇳🇱", "👍🏽", "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "क्षि"]

    @Test(arguments: units)
    func whatFitsExactlyIsSentAsItIs(_ unit: String) throws {
        let (body, payload) = self.filled(unit, to: 4096)
        let bytes = payload.encoded()
        #expect(bytes.count == 4096)
        let decoded = try JSONDecoder().decode(Decoded.self, from: Data(bytes))
        #expect(Array(try #require(decoded.aps.alert.body).utf8) == Array(body.utf8))
    }

    @Test(arguments: units, [4097, 4098, 4099, 4100, 5000, 50_000])
    func whatIsTooLongIsCutAtAGrapheme(_ unit: String, _ size: Int) throws {
        let (body, payload) = self.filled(unit, to: size)
        let bytes = payload.encoded()
        #expect(bytes.count <= 4096)
        let decoded = try JSONDecoder().decode(Decoded.self, from: Data(bytes))
        let cut = try #require(decoded.aps.alert.body)
        #expect(cut.hasSuffix("…"))
        // A whole number of graphemes of the text itself, and not one fewer than fit.
        let kept = cut.dropLast()
        #expect(Array(body.prefix(kept.count).utf8) == Array(kept.utf8))
        if unit != "\n" {
            let escaped = unit == "\"" || unit == "\\" ? 2 : unit.utf8.count
            #expect(bytes.count + escaped > 4096)
        }
        #expect(decoded.aps.alert.title == "T")
    }

    @Test func sizesOnTheEdgeAreThoseOnFile() {
        Golden.expect(self.filled("é", to: 4096).payload.encoded(), is: "apns/size/4096.json")
        Golden.expect(self.filled("é", to: 4097).payload.encoded(), is: "apns/size/4097.json")
        Golden.expect(self.filled("👨‍👩‍👧‍👦", to: 4097).payload.encoded(), is: "apns/size/4097-family.json")
        Golden.expect(self.filled("\"", to: 4097).payload.encoded(), is: "apns/size/4097-quotes.json")
    }

    /// No title has a line break.
    @Test(arguments: units.filter { $0 != "\n" })
    func afterTheBodyTheTitleIsCut(_ unit: String) throws {
        let long = String(repeating: unit, count: 10_000)
        for body in [nil, "", "Hello", long] {
            let bytes = system(title: long, body: body).encoded()
            #expect(bytes.count <= 4096)
            #expect(bytes.count > 4000)
            let decoded = try JSONDecoder().decode(Decoded.self, from: Data(bytes))
            #expect(decoded.aps.alert.title.hasSuffix("…"))
            #expect(decoded.aps.alert.body == nil)
        }
    }

    @Test func aTitleThatLeavesALittleRoomKeepsTheBeginningOfItsBody() throws {
        let bytes = system(title: String(repeating: "t", count: 3900), body: String(repeating: "b", count: 3900))
            .encoded()
        let decoded = try JSONDecoder().decode(Decoded.self, from: Data(bytes))
        #expect(bytes.count == 4096)
        #expect(decoded.aps.alert.title.count == 3900)
        #expect(try #require(decoded.aps.alert.body).hasPrefix("bb"))
    }

    @Test func oneEndlessGraphemeIsCutToo() {
        let grapheme = "a" + String(repeating: "\u{301}", count: 50_000)
        #expect(system(title: grapheme, body: grapheme).encoded().count <= 4096)
    }

    /// The cut counts as the encoder writes.
    @Test func everyScalarIsCountedAsItIsEncoded() throws {
        for value in [0x0...0xFF, 0x2020...0x2030, 0xFFF0...0xFFFD, 0x1F600...0x1F610].joined() {
            guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
            let text = String(Character(scalar))
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            #expect(try encoder.encode(text).count - 2 == JSONText.byteCount(text), "\(value)")
        }
    }
}
