import FoundationEssentials
import HTTPTransport
import PushModel
import TestSupport
import Testing

@testable import APNS

@Suite struct APNSRequestTests {
    @Test(arguments: APNSPayloadTests.notifications)
    func headersAreThoseOnFile(_ kind: NotificationKind, _ notification: Notification) throws {
        let request = try request(notification, kind: kind)
        Golden.expect(request.headers, is: "apns/\(kind.name).headers")
        #expect(request.path == "/3/device/\(Sample.hexadecimalToken)")
    }

    /// Those of the design, for one that coalesces.
    @Test func headersAreThoseOfTheDesign() throws {
        let request = try request(Sample.notification(), kind: .contactUpdated)
        let headers = request.headers.map { "\($0.name): \($0.value)" }
        #expect(
            headers == [
                "apns-topic: org.example.app", "apns-push-type: alert", "apns-priority: 10",
                "apns-id: 00000000-0000-4000-8000-0000000000e0", "apns-expiration: 1797062400",
                "apns-collapse-id: contact_updated:00000000-0000-4000-8000-0000000000c0",
                "content-type: application/json",
            ])
    }

    @Test(arguments: NotificationKind.all)
    func aCollapseIDIsTheConnectionsOrTheNotificationsOwn(_ kind: NotificationKind) {
        var notification = Sample.notification(kind)
        notification.connectionID = Sample.id(0xC0)
        let id = APNSRequest.collapseID(notification, kind: kind)
        #expect(id == (kind.coalesces ? "\(kind.name):\(Sample.id(0xC0).text)" : notification.id.text))
        #expect(id.utf8.count <= 64)
        notification.connectionID = nil
        #expect(APNSRequest.collapseID(notification, kind: kind) == notification.id.text)
    }

    @Test func aCollapseIDNeverExceeds64Bytes() {
        let connection = Sample.id(0xC0)
        var seen: Set<String> = []
        for length in [1, 27, 28, 29, 64, 1000] {
            for letter in ["a", "b", "é"] {
                let id = APNSRequest.collapseID(
                    kindName: String(repeating: letter, count: length), connection: connection)
                #expect(id.utf8.count <= 64)
                #expect(seen.insert(id).inserted)
            }
        }
        #expect(
            APNSRequest.collapseID(kindName: String(repeating: "a", count: 27), connection: connection).hasPrefix("aaa")
        )
    }

    @Test(arguments: [
        (0.0, "1"), (-5, "1"), (1.9, "1"), (1_797_062_400.999, "1797062400"), (1e300, "253402300799"),
        (.infinity, "253402300799"), (-.infinity, "1"), (.nan, "1"),
    ])
    func anExpirationIsWholeSecondsAndNeverZero(_ seconds: Double, _ text: String) {
        #expect(APNSRequest.unixSeconds(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test(arguments: ["https://api.push.apple.com", "https://api.push.apple.com/"])
    func theTransportGetsAddressHeadersAndBody(_ baseURL: String) throws {
        let request = try request(Sample.notification(), kind: .contactUpdated)
        let sent = request.httpRequest(id: 7, baseURL: baseURL, authorization: "bearer abc")
        #expect(sent.id == 7)
        #expect(sent.url == "https://api.push.apple.com/3/device/\(Sample.hexadecimalToken)")
        #expect(sent.headers.last?.name == "authorization" && sent.headers.last?.value == "bearer abc")
        #expect(sent.headers.dropLast().map(\.name) == request.headers.map(\.name))
        #expect(Set(sent.headers.map(\.name)).count == sent.headers.count)
        #expect(sent.body == request.body)
    }

    @Test func everyTryHasTheSameBytesButForTheBadge() throws {
        let first = try request(Sample.notification(), kind: .contactUpdated)
        let second = try request(Sample.notification(), kind: .contactUpdated)
        #expect(first.body == second.body)
        #expect(first.headers.map(\.value) == second.headers.map(\.value))
    }
}
