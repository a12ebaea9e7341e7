import FoundationEssentials
import PushModel
import Testing

@Suite struct ModelTests {
    @Test func kindsAreThoseOfTheDesign() {
        let table: [(String, AccountSwitch?, Bool, Lane, NotificationKind.TextSource)] = [
            ("invitation_received", .invitations, false, .interactive, .template),
            ("invitation_accepted", .invitations, false, .interactive, .template),
            ("contact_updated", .contactUpdates, true, .normal, .template),
            ("circle_changed", .circleChanges, true, .normal, .template),
            ("system", nil, false, .bulk, .row),
        ]
        #expect(NotificationKind.all.count == table.count)
        for (name, accountSwitch, coalesces, lane, text) in table {
            let kind = NotificationKind(named: name)
            #expect(kind?.name == name)
            #expect(kind?.accountSwitch == accountSwitch)
            #expect(kind?.coalesces == coalesces)
            #expect(kind?.lane == lane)
            #expect(kind?.text == text)
        }
    }

    @Test(arguments: ["contact_removed", "", "SYSTEM", "system ", "system\u{0}"])
    func otherNamesAreNoKind(_ name: String) {
        #expect(NotificationKind(named: name) == nil)
    }

    @Test(
        arguments: [
            ("she", Pronoun.she), ("he", .he), ("they", .neutral), ("She", .neutral), ("", .neutral), (nil, .neutral),
        ] as [(String?, Pronoun)])
    func aPronounIsNeutralUnlessTheRowSaysSo(_ column: String?, _ pronoun: Pronoun) {
        #expect(Pronoun(column: column) == pronoun)
    }

    @Test func everyReasonHasAFinalState() {
        let discarded: Set<DeliveryReason> = [
            .expired, .exhausted, .providerNotConfigured, .duplicateToken, .workersLost,
        ]
        for reason in DeliveryReason.allCases {
            #expect(reason.state == (discarded.contains(reason) ? .discarded : .cancelled))
            #expect(reason.state.isFinal)
        }
    }

    @Test func aSecondRefusalAfterARenewalIsAFaultOfConfiguration() {
        let once = SendOutcome.retry(
            .init(
                reason: "ExpiredProviderToken", scope: .provider, renewal: .credential, fixIfRepeated: "set the clock"))
        #expect(
            once.repeatedAfterRenewal
                == .misconfigured(reason: "ExpiredProviderToken", fix: "set the clock", scope: .provider))
        for other in [SendOutcome.retry(.init(reason: "x")), .rejected(reason: "x"), .accepted(providerID: nil)] {
            #expect(other.repeatedAfterRenewal == other)
        }
    }

    @Test(
        arguments: [
            ("Unregistered", "Unregistered"), ("INVALID_ARGUMENT", "INVALID_ARGUMENT"),
            ("message.token", "message.token"),
            ("<b>x</b>", "_b_x__b_"), ("a\nb\u{0}", "a_b_"), ("é", "__"), ("", nil),
            (String(repeating: "x", count: 10_000), String(repeating: "x", count: 40)),
        ] as [(String, String?)])
    func aWordFromOutsideIsMadeHarmless(_ text: String, _ word: String?) {
        #expect(ReasonText.word(text) == word)
    }

    @Test func aUUIDIsWrittenAsPostgreSQLWritesIt() throws {
        let id = try #require(UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"))
        #expect(id.text == "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
    }

    @Test func aDurationHasSeconds() {
        #expect(Duration.milliseconds(1500).inSeconds == 1.5)
        #expect(Duration.seconds(-2).inSeconds == -2)
    }
}
