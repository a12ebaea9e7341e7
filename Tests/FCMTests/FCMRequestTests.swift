import FoundationEssentials
import HTTPTransport
import PushModel
import TestSupport
import Testing

@testable import FCM

/// The request for a notification and an Android phone.
func request(_ notification: Notification, kind: NotificationKind, device: Device = Sample.android()) throws
    -> FCMRequest
{
    FCMRequest(delivery: try Sample.delivery(notification, kind: kind, device: device), project: "example-project")
}

@Suite struct FCMRequestTests {
    @Test(arguments: NotificationKind.all)
    func bodiesAreThoseOnFile(_ kind: NotificationKind) throws {
        let request = try request(Sample.notification(kind), kind: kind)
        Golden.expect(request.body, is: "fcm/\(kind.name).json")
        Golden.expect(request.headers, is: "fcm/headers")
        #expect(request.path == "/v1/projects/example-project/messages:send")
    }

    @Test func anInstallationIDTakesTheTokensPlace() throws {
        let device = Sample.android(target: .fid)
        Golden.expect(
            try request(Sample.notification(), kind: .contactUpdated, device: device).body, is: "fcm/fid.json")
    }

    /// The example of the design, word for word.
    @Test func theBodyIsThatOfTheDesign() throws {
        let body = String(decoding: try request(Sample.notification(), kind: .contactUpdated).body, as: UTF8.self)
        #expect(
            body == """
                {"message":{"android":{"priority":"HIGH","ttl":"2419200s"},\
                "data":{"id":"00000000-0000-4000-8000-000000000001","kind":"contact_updated"},\
                "token":"cXk3:APA91bH-_example"}}
                """)
    }

    /// Whatever the row says: two keys, no words, no `notification`.
    @Test(arguments: NotificationKind.all)
    func nothingOfTheRowTravels(_ kind: NotificationKind) throws {
        let plain = Sample.notification(kind)
        var spoken = plain
        spoken.actorName = "notification"
        spoken.categories = ["phone"]
        spoken.title = "\"},\"notification\":{\"title\":\"x\"}"
        spoken.body = "+31 6 12345678"
        spoken.translations = ["en": .init(title: "x", body: "y")]
        #expect(try request(spoken, kind: kind).body == request(plain, kind: kind).body)
    }

    @Test(arguments: [
        (2_419_200.0, "2419200s"), (2_419_201, "2419200s"), (40 * 86_400, "2419200s"), (86_400, "86400s"), (1.9, "1s"),
        (0, "0s"), (-5, "0s"), (.infinity, "2419200s"), (.nan, "0s"),
    ])
    func aLifetimeIsWholeSecondsWithin28Days(_ lifetime: Double, _ ttl: String) {
        #expect(FCMPayload.ttl(lifetime) == ttl)
    }

    @Test func aShorterLifetimeIsSentWhole() throws {
        var delivery = try Sample.delivery(Sample.notification(), kind: .contactUpdated, device: Sample.android())
        delivery.expiresAt = delivery.notification.createdAt + 3600
        #expect(FCMPayload(delivery: delivery).message.android?.ttl == "3600s")
    }

    @Test(arguments: [PushTarget.token, .fid])
    func aValidationAsksForTheAddressAlone(_ target: PushTarget) throws {
        let delivery = try Sample.delivery(
            Sample.notification(), kind: .contactUpdated, device: Sample.android(target: target))
        let request = FCMRequest(validating: delivery, project: "p")
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "{\"message\":{\"\(target.rawValue)\":\"cXk3:APA91bH-_example\"},\"validate_only\":true}")
    }

    @Test(arguments: ["https://fcm.googleapis.com", "https://fcm.googleapis.com/"])
    func theTransportGetsAddressHeadersAndBody(_ baseURL: String) throws {
        let request = try request(Sample.notification(), kind: .contactUpdated)
        let sent = request.httpRequest(id: 7, baseURL: baseURL, authorization: "Bearer abc")
        #expect(sent.id == 7)
        #expect(sent.url == "https://fcm.googleapis.com/v1/projects/example-project/messages:send")
        #expect(
            sent.headers.map { "\($0.name): \($0.value)" } == [
                "content-type: application/json", "authorization: Bearer abc",
            ])
        #expect(sent.body == request.body)
    }
}
