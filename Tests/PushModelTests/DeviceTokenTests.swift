import PushModel
import Testing

@Suite struct DeviceTokenTests {
    static let sixtyFour = String(repeating: "0123456789abcdef", count: 4)

    @Test(arguments: [
        (sixtyFour, sixtyFour), (sixtyFour.uppercased(), sixtyFour), ("<\(sixtyFour)>", sixtyFour),
        ("<01234567 89abcdef 01234567 89abcdef 01234567 89abcdef 01234567 89ABCDEF>", sixtyFour),
        (" \(sixtyFour)\r\n", sixtyFour),
        // 54 and 80 bytes have been seen: Apple promises no length.
        (String(repeating: "ab", count: 54), String(repeating: "ab", count: 54)),
        (String(repeating: "ab", count: 80), String(repeating: "ab", count: 80)),
        (String(repeating: "ab", count: 200), String(repeating: "ab", count: 200)),
    ])
    func hasOneFormForAnIPhone(_ stored: String, _ text: String) throws {
        #expect(try DeviceToken(stored: stored, platform: .ios).text == text)
    }

    @Test(arguments: [
        ("", DeviceToken.Malformed.empty), ("<>", .empty), ("abc", .oddLength), (sixtyFour + "0", .oddLength),
        ("ab", .badLength), (String(repeating: "ab", count: 201), .badLength), (sixtyFour + "/..", .notHexadecimal),
        ("g" + sixtyFour, .notHexadecimal), ("{\(sixtyFour)}", .notHexadecimal), ("０１２３", .notHexadecimal),
        (sixtyFour + "\u{0}", .notHexadecimal),
    ])
    func isRefusedForAnIPhone(_ stored: String, _ fault: DeviceToken.Malformed) {
        #expect(throws: fault) { try DeviceToken(stored: stored, platform: .ios) }
    }

    @Test(arguments: [("cXk3:APA91bH-_x", "cXk3:APA91bH-_x"), (" \ttoken\n", "token"), ("Aa", "Aa")])
    func hasOneFormForAnAndroidPhone(_ stored: String, _ text: String) throws {
        #expect(try DeviceToken(stored: stored, platform: .android).text == text)
    }

    @Test(arguments: [
        ("", DeviceToken.Malformed.empty), (" \n", .empty), ("a b", .forbiddenCharacter), ("é", .forbiddenCharacter),
        ("a\u{0}b", .forbiddenCharacter), (String(repeating: "x", count: 4097), .badLength),
    ])
    func isRefusedForAnAndroidPhone(_ stored: String, _ fault: DeviceToken.Malformed) {
        #expect(throws: fault) { try DeviceToken(stored: stored, platform: .android) }
    }

    @Test func aFaultNeverTellsTheToken() {
        let error = #expect(throws: DeviceToken.Malformed.self) {
            try DeviceToken(stored: "secret-token", platform: .ios)
        }
        #expect(error.map { !"\($0)\($0.rawValue)".contains("secret") } == true)
    }
}
