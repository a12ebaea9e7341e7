import FoundationEssentials
import Postgres
import PushModel

/// What PostgreSQL writes.
extension FuzzTarget {
    static let postgresArray = FuzzTarget(
        "postgres-array",
        [
            "text": Corpus(
                .bytes,
                [
                    "{}", "{a,b}", "{NULL,\"NULL\",\"\"}", "{\"a \\\"b\\\" \\\\\",c}", "[0:2]={1,2,3}", "{{a},{b}}",
                    "{00fc13ad-ff78-5122-b4ad-28809a342098}",
                ])
        ]
    ) { input throws(FuzzFinding) in
        // What we write we can read.
        let texts: [String?] = [input.text, nil, ""]
        try expect(PostgresText.texts(try Self.encoded(texts)) == texts, "what was written is not read")
        guard let read = PostgresText.texts(input.bytes) else { return .refused("none") }
        try expect(input.bytes.last == UInt8(ascii: "}"), "it has no end")
        try expect(PostgresText.texts(try Self.encoded(read)) == read, "it changes again")
        if let ids = PostgresText.uuids(input.bytes) {
            try expect(ids.map(\.text) == read.map { $0?.lowercased() }, "the ids \(ids)")
        }
        return .read("\(min(read.count, 5)) elements")
    }

    private static func encoded(_ value: some PostgresEncodable) throws(FuzzFinding) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(PostgresError) {
            try value.encode(into: &bytes)
        } catch {
            throw FuzzFinding("\(error)")
        }
        return bytes
    }

    static let postgresTimestamp = FuzzTarget(
        "postgres-timestamp",
        [
            "text": Corpus(
                .bytes,
                [
                    "2026-11-30 11:20:00.123456+00", "2026-11-30 11:20:00+05:30", "2026-11-30",
                    "0001-01-01 00:00:00-00:00:01",
                    "294276-12-31 23:59:59.999999+00", "0044-03-15 BC", "infinity", "1794643200.123456", "-1.5",
                ], unchangedOneIn: 20)
        ]
    ) { input throws(FuzzFinding) in
        guard let date = PostgresText.date(input.bytes) else { return .refused("none") }
        try expect(date.timeIntervalSince1970.isFinite, "\(date.timeIntervalSince1970)")
        var bytes: [UInt8] = []
        do throws(PostgresError) {
            try date.encode(into: &bytes)
        } catch {
            // Before the year 1, by an offset or in seconds, or after the last year of PostgreSQL.
            let isInRange = (-63_113_904_000..<9_200_000_000_000).contains(date.timeIntervalSinceReferenceDate)
            try expect(!isInRange, "read, and cannot be written")
            return .read("out of range")
        }
        guard let again = PostgresText.date(bytes) else {
            throw FuzzFinding("\(String(decoding: bytes, as: UTF8.self)) cannot be read")
        }
        // A Double holds the microsecond for some hundred years around us.
        let allowed = max(0.000_001, abs(date.timeIntervalSinceReferenceDate).ulp)
        try expect(abs(again.timeIntervalSince(date)) <= allowed, "\(String(decoding: bytes, as: UTF8.self))")
        return .read(input.text.dropFirst().contains("-") ? "timestamp" : "seconds")
    }

    static let postgresUUID = FuzzTarget(
        "postgres-uuid",
        [
            "text": Corpus(
                .bytes, ["00fc13ad-ff78-5122-b4ad-28809a342098", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"],
                unchangedOneIn: 6)
        ]
    ) { input throws(FuzzFinding) in
        guard let id = PostgresText.uuid(input.bytes) else { return .refused("none") }
        try expect(id.text == input.text.lowercased(), "\(id.text)")
        try expect(try Self.encoded(id) == Array(id.text.utf8), "it is written otherwise")
        return .read("id")
    }

    static let postgresNumber = FuzzTarget(
        "postgres-number",
        [
            "text": Corpus(
                .bytes, ["0", "-1", "42", "1.5", "-0.000001", "1e300", "t", "f", "NaN", "Infinity"] + Words.numbers)
        ]
    ) { input throws(FuzzFinding) in
        let int = PostgresText.int(input.bytes)
        if let int { try expect(Int(input.text) == int, "\(int)") }
        if let bool = PostgresText.bool(input.bytes) { try expect(input.text == (bool ? "t" : "f"), "\(bool)") }
        if let duration = PostgresText.duration(input.bytes) {
            try expect(abs(duration / .seconds(1)) < 9.1e12, "\(duration)")
        }
        guard let double = PostgresText.double(input.bytes) else { return .refused("none") }
        if double.isNaN { return .read("not a number") }
        try expect(PostgresText.double(try Self.encoded(double)) == double, "\(double) changes again")
        return .read(int != nil ? "whole" : double.isFinite ? "number" : "infinite")
    }

    static let connectionString = FuzzTarget(
        "connection-string",
        [
            "text": Corpus(
                .bytes,
                [
                    "postgresql://push:Zq8vTr3kLm@db.example.com:5432/app?sslmode=require",
                    "postgres://push:Zq8vTr3kLm@one:5432,two:5433/app?target_session_attrs=read-write&connect_timeout=3",
                    "host=localhost port=5432 user=push password=Zq8vTr3kLm dbname=app",
                    "postgresql:///app?host=/var/run/postgresql",
                    "postgresql://push:Zq8vTr3kLm@[::1]:5432/app", "host='a b' password='Zq8vTr3kLm' options='-c x=y'",
                ])
        ]
    ) { input throws(FuzzFinding) in
        switch Result(catching: { () throws(PostgresError) in try PostgresConfiguration(input.text) }) {
        case .success(let configuration):
            try expect(configuration.connectTimeout > .zero, "\(configuration.connectTimeout)")
            // A change may have made the password a user's or a host's name: then it is one.
            return .read("parameters")
        case .failure(let error):
            let text = error.description
            try expect(!text.contains("Zq8vTr3kLm"), "the password in: \(text)")
            try expect(text.utf8.count <= 600, "\(text.utf8.count) bytes of message")
            return .refused("invalid")
        }
    }
}
