import FoundationEssentials
import Testing

@testable import Postgres

/// What needs no server.
struct PostgresTextTests {
    @Test
    func `years before 1 are no dates`() {
        #expect(PostgresText.date(Array("0000-12-31 00:00:00+00".utf8)) == nil)
        #expect(PostgresText.date(Array("0044-03-15 00:00:00+00 BC".utf8)) == nil)
        #expect(PostgresText.date(Array("0001-01-01 00:00:00+00".utf8)) != nil)
    }

    @Test
    func `arrays are read with their nulls`() {
        #expect(PostgresText.texts(Array(#"{a,NULL,"NULL","b \"c\""}"#.utf8)) == ["a", nil, "NULL", "b \"c\""])
        #expect(PostgresText.texts(Array("{a,b".utf8)) == nil)
        #expect(PostgresText.uuids(Array("{NULL}".utf8)) == nil)
    }

    /// A mark behind a quote or an @ joins it to one Character, which libpq does not know.
    @Test(arguments: [
        "\u{301}gresql://push:Zq8vTr3kLm@db/app", "\u{FE0F}postgresql://push:Zq8vTr3kLm@db/app",
        "postgresql://push:Zq8v@\u{301}Tr3kLm@db/app",
    ])
    func `no password is told, whatever joins the letters around it`(text: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(text) }
        #expect(error?.description.contains("Tr3kLm") == false)
    }

    @Test(arguments: ["no Zq8vTr3kLm\u{301} here", "Zq8vTr3kLm", "\u{200D}Zq8vTr3kLmZq8vTr3kLm\u{FE0F}"])
    func `a secret is taken out with any mark behind it`(message: String) {
        let told = Redaction(secrets: ["Zq8vTr3kLm"])(message)
        #expect(!Array(told.utf8).contains(Array("Zq8vTr3kLm".utf8)))
        #expect(told.utf8.count < message.utf8.count)
    }
}
