import FoundationEssentials
import Postgres
import Testing

/// Values that go to the server and come back.
struct ValueTests {
    static let texts = [
        "", " ", "Anna", "O'Brien", "\"quoted\"", #"back\slash"#, #"\"#, #"\\""#, "{a,b}", "NULL", "null", ",", "{}",
        "$1",
        "line\nbreak\ttab\r", "👩‍👩‍👧‍👦 и 日本", "e\u{301}", "\u{1}\u{7F}\u{FEFF}", "'); drop table x; --",
    ]

    @Test(arguments: texts)
    func `a text comes back as it was`(text: String) async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select \(text)::text, \([text, nil, text])::text[], \([text])::text[]")
            .single()
        #expect(try row.text(0) == text)
        #expect(try row.arrayOfOptionalTexts(1) == [text, nil, text])
        #expect(try row.textArray(2) == [text])
    }

    @Test(arguments: [0, 1, -1, .max, .min, 1_000_000])
    func `a whole number comes back as it was`(number: Int) async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select \(number)::bigint, \([number, nil])::bigint[], \(number)::text")
            .single()
        #expect(try row.int(0) == number)
        #expect(try row.arrayOfOptionalInts(1) == [number, nil])
        #expect(try row.text(2) == String(number))
    }

    @Test(arguments: [0.0, -0.5, 1e300, 5e-300, 0.1, .infinity, -.infinity])
    func `a number comes back as it was`(number: Double) async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select \(number)::float8, \([number])::float8[]").single()
        #expect(try row.double(0) == number)
        #expect(try row.doubleArray(1) == [number])
    }

    @Test
    func `what is not a number stays so`() async throws {
        let connection = try await Server.connect()
        #expect(try await connection.query("select \(Double.nan)::float8").single().double(0).isNaN)
    }

    @Test(arguments: [true, false])
    func `a boolean comes back as it was`(value: Bool) async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select \(value)::bool, \([value, true])::bool[], not \(value)").single()
        #expect(try row.bool(0) == value)
        #expect(try row.boolArray(1) == [value, true])
        #expect(try row.bool(2) != value)
    }

    @Test
    func `a UUID is written in lower case and read in either`() async throws {
        let connection = try await Server.connect()
        let id = UUID()
        let row = try await connection.query("select \(id)::uuid, \(id)::text, upper(\(id)::text), \([id])::uuid[]")
            .single()
        #expect(try row.uuid(0) == id)
        #expect(try row.text(1) == id.uuidString.lowercased())
        #expect(try row.uuid(2) == id)
        #expect(try row.uuidArray(3) == [id])
    }

    // Seconds since 2001, exact in a Double with their microseconds.
    @Test(arguments: [
        (0.0, "2001-01-01 00:00:00+00"), (0.000001, "2001-01-01 00:00:00.000001+00"),
        (-0.5, "2000-12-31 23:59:59.5+00"), (817_903_200.123456, "2026-12-02 11:20:00.123456+00"),
        (-63_113_904_000, "0001-01-01 00:00:00+00"), (252_423_993_599, "9999-12-31 23:59:59+00"),
        (220_924_799, "2008-01-01 23:59:59+00"), (-26_697_600, "2000-02-27 00:00:00+00"),
        (-26_524_800, "2000-02-29 00:00:00+00"), (255_611_289_600, "10101-01-01 00:00:00+00"),
    ])
    func `a point in time comes back to the microsecond`(seconds: Double, text: String) async throws {
        let connection = try await Server.connect()
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let row = try await connection.query(
            "select \(date)::timestamptz, \([date])::timestamptz[], extract(epoch from \(date)::timestamptz)"
        ).single()
        #expect(try row.text(0) == text)
        #expect(try row.date(0) == date)
        #expect(try row.dateArray(1) == [date])
        #expect(abs(try row.date(2).timeIntervalSince(date)) < 1e-4)
    }

    @Test(arguments: ["Europe/Amsterdam", "Asia/Kolkata", "America/St_Johns", "UTC"])
    func `a session's time zone does not move a point in time`(zone: String) async throws {
        let connection = try await Server.connect { $0.settings = [("TimeZone", zone)] }
        let now = Date(timeIntervalSinceReferenceDate: 817_903_200.25)
        // Amsterdam before 1937 was 19 minutes and 32 seconds ahead.
        let old = Date(timeIntervalSinceReferenceDate: -3_000_000_000)
        let row = try await connection.query("select \(now)::timestamptz, \(old)::timestamptz").single()
        #expect(try row.date(0) == now)
        #expect(try row.date(1) == old)
    }

    @Test(arguments: [
        "2026-13-01 00:00:00+00", "2026-01-01 00:00", "2026-01-01 00:00:00+", "2026-01-01T00:00:00Z", "now",
    ])
    func `malformed text is no point in time`(text: String) async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select \(text)::text").single()
        #expect(throws: PostgresError.self) { try row.date(0) }
    }

    @Test(arguments: ["infinity", "-infinity", "0044-03-15 12:00:00+00 BC"])
    func `a time that is no date of ours is refused`(text: String) async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select \(text)::timestamptz as seen").single()
        let error = #expect(throws: PostgresError.self) { try row.date("seen") }
        #expect(error?.code == .decoding)
        #expect(error?.message.contains("seen") == true)
    }

    @Test(arguments: [
        (Duration.zero, 0.0), (.microseconds(1), 0.000001), (.milliseconds(-500), -0.5),
        (.seconds(86_400 * 400), 34_560_000),
        (.microseconds(-1_000_001), -1.000001),
    ])
    func `a duration is an interval`(duration: Duration, seconds: Double) async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select extract(epoch from \(duration)::interval)").single()
        #expect(try row.double(0) == seconds)
        #expect(try row.duration(0) == duration)
    }

    @Test
    func `null is nil for every type`() async throws {
        let connection = try await Server.connect()
        let row = try await connection.query(
            "select \(String?.none)::text, \(UUID?.none)::uuid, \(Date?.none)::timestamptz, \([Int]?.none)::int[]"
        ).single()
        #expect(try row.optionalText(0) == nil)
        #expect(try row.optionalUUID(1) == nil)
        #expect(try row.optionalDate(2) == nil)
        #expect(try row.optionalTextArray(3) == nil)
        #expect(try row.isNull(0))
        #expect(throws: PostgresError.self) { try row.text(0) }
        #expect(throws: PostgresError.self) { try row.intArray(3) }
    }

    @Test
    func `arrays may be empty, long, and count from elsewhere`() async throws {
        let connection = try await Server.connect()
        let numbers = Array(0..<10_000)
        let texts = numbers.map { "\($0) \"\\,{}" }
        let ids = numbers.map { _ in UUID() }
        let row = try await connection.query(
            """
            select \(numbers)::int[], \(texts)::text[], \(ids)::uuid[], \([String]())::text[], '[0:1]={7,8}'::int[],
                '{{1,2},{3,4}}'::int[]
            """
        ).single()
        #expect(try row.intArray(0) == numbers)
        #expect(try row.textArray(1) == texts)
        #expect(try row.uuidArray(2) == ids)
        #expect(try row.textArray(3).isEmpty)
        #expect(try row.intArray(4) == [7, 8])
        #expect(throws: PostgresError.self) { try row.intArray(5) }
    }

    @Test
    func `unnest turns arrays of values into rows`() async throws {
        let connection = try await Server.connect()
        try await connection.query("create temporary table t (id uuid, name text, at timestamptz)")
        let ids = (0..<100).map { _ in UUID() }
        let names = ids.indices.map { $0 % 3 == 0 ? nil : "name \($0)" }
        let dates = ids.indices.map { Date(timeIntervalSinceReferenceDate: Double($0)) }
        let inserted = try await connection.query(
            "insert into t select * from unnest(\(ids)::uuid[], \(names)::text[], \(dates)::timestamptz[])"
        )
        #expect(inserted.affected == 100)
        let rows = try await connection.query("select name, id, at from t where id = any(\(ids)) order by at")
        #expect(try rows.map { try $0.uuid("id") } == ids)
        #expect(try rows.map { try $0.optionalText("name") } == names)
        #expect(try rows.map { try $0.date("at") } == dates)
        #expect(rows.columns == ["name", "id", "at"])
    }

    @Test
    func `text with U+0000 is refused before it is sent`() async throws {
        let connection = try await Server.connect()
        for query: PostgresQuery in ["select \("a\0b")", "select \(["a\0"])::text[]", "select 1\0"] {
            let error = await #expect(throws: PostgresError.self) { try await connection.query(query) }
            #expect(error?.code == .invalidParameter)
        }
        #expect(try await connection.query("select 1").single().int(0) == 1)
    }

    // Seconds, as the description of a `Date` that is not a number crashes.
    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e13, -63_114_076_800])
    func `a date PostgreSQL cannot hold is refused before it is sent`(seconds: Double) async throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let connection = try await Server.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("select \(date)::timestamptz")
        }
        #expect(error?.code == .invalidParameter)
    }

    @Test(arguments: [
        "abc", "", "12a", "9223372036854775808", "-", "1.5", "{1,a}", "{1", "{\"a", "{1,}", "{1}2", "{1}}", "[0:1]",
        "[",
        "0123456789012345678901234567890123456", "01234567-89ab-cdef-0123-456789abcdeg",
        "01234567089ab-cdef-0123-456789abcdef",
    ])
    func `malformed text is an error that names the column, not the value`(text: String) async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select \(text)::text as x").single()
        let value = try row.text(0)
        let errors = [
            #expect(throws: PostgresError.self) { try row.int("x") },
            #expect(throws: PostgresError.self) { try row.uuid("x") },
            #expect(throws: PostgresError.self) { try row.intArray("x") },
            #expect(throws: PostgresError.self) { try row.bool("x") },
        ]
        for error in errors {
            let error = try #require(error)
            #expect(error.code == .decoding)
            #expect(error.message.hasPrefix("column x: expected "))
            #expect(value.isEmpty || !"\(error)".contains(value))
        }
    }

    @Test
    func `a column that is not there is an error`() async throws {
        let connection = try await Server.connect()
        let row = try await connection.query("select 1 as a, 2 as b, 3 as a").single()
        #expect(try row.int("a") == 1)
        #expect(try row.int(2) == 3)
        #expect(throws: PostgresError.self) { try row.int("c") }
        #expect(throws: PostgresError.self) { try row.int(3) }
        #expect(throws: PostgresError.self) { try row.int(.index(-1)) }
    }
}
