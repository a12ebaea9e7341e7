private import CLibPQ
private import Glibc

/// Where the database is, and how a session on it behaves.
package struct PostgresConfiguration: Sendable {
    /// The longest a connection attempt may take, for each host of the list. From the connection string's
    /// `connect_timeout` if it has one that is above 0; else 10 s. Resolving a name is not under it: that has the
    /// resolver's own limits.
    package var connectTimeout: Duration = .seconds(10)
    /// The longest a statement may take, unless the call says otherwise. Default 30 s.
    package var queryDeadline: Duration = .seconds(30)
    /// Settings of the session, such as `("statement_timeout", "5s")`, made in one round trip after connecting.
    /// `DateStyle` and `TimeZone` are always set first, to ISO and UTC: the decoders rely on the one, days on the other.
    package var settings: [(name: String, value: String)] = []
    /// Called on the connection's queue with each notice of the server; it must not wait. Default: dropped.
    package var onNotice: @Sendable (PostgresNotice) -> Void = { _ in }

    /// libpq's own parameters, passwords among them.
    let parameters: [String: String]
    let redaction: Redaction

    /// - Parameters:
    ///   - connectionString: a URI, `postgresql://user:secret@one,two/db?target_session_attrs=read-write`, or libpq's
    ///     `host=… dbname=…`. What it leaves out comes from the `PG…` environment variables, then from defaults: broken
    ///     connections noticed within 30 s, whichever end is silent.
    ///   - applicationName: shown in `pg_stat_activity`, unless the connection string has one.
    /// - Throws: `.invalidParameter`; nothing of the string is quoted.
    package init(_ connectionString: String, applicationName: String = "push-fanout") throws(PostgresError) {
        try ConnectionString.checkShape(of: connectionString)
        let options = try ConnectionString.parse(connectionString)
        var parameters: [String: String] = [
            "keepalives_idle": "15", "keepalives_interval": "5", "keepalives_count": "3",
            // Milliseconds. Without it, unanswered bytes are sent again for a quarter of an hour.
            "tcp_user_timeout": "15000",
            // A standby, and a primary that was demoted, are passed over: everything here writes.
            "target_session_attrs": "read-write",
        ]
        if getenv("PGAPPNAME") == nil { parameters["application_name"] = applicationName }
        for option in options { parameters[option.keyword] = option.value }
        // The decoders read nothing else.
        parameters["client_encoding"] = "UTF8"
        self.redaction = Redaction(secrets: options.filter(\.isSecret).map(\.value))

        let timeout = parameters["connect_timeout"] ?? getenv("PGCONNECT_TIMEOUT").map { String(cString: $0) }
        if let timeout, let seconds = Int(timeout), seconds > 0 { self.connectTimeout = .seconds(seconds) }
        self.parameters = parameters
    }

    /// The hosts in the order to try them, each as a set of libpq parameters and the time it gets.
    ///
    /// libpq can walk the list itself, but without a limit for each: a first host that swallows packets would keep the
    /// living second from being tried. `prefer-standby` needs the whole list, as it walks it twice.
    var attempts: [(parameters: [String: String], limit: Duration)] {
        let lists = ["host", "hostaddr", "port"].map { name in
            self.parameters[name].map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? []
        }
        let count = max(lists[0].count, lists[1].count)
        let isRegular = lists.allSatisfy { $0.count == count || $0.isEmpty } || lists[2].count == 1
        guard count > 1, isRegular, self.parameters["target_session_attrs"] != "prefer-standby" else {
            return [(self.parameters, self.connectTimeout * max(count, 1))]
        }
        return (0..<count).map { index in
            var parameters = self.parameters
            for (name, list) in zip(["host", "hostaddr", "port"], lists) where !list.isEmpty {
                parameters[name] = String(list.count == 1 ? list[0] : list[index])
            }
            return (parameters, self.connectTimeout)
        }
    }
}

extension PostgresConfiguration {
    /// All settings of the session in one statement.
    var sessionQuery: PostgresQuery {
        var query = PostgresQuery.StringInterpolation(literalCapacity: 40, interpolationCount: 4)
        let settings = [(name: "DateStyle", value: "ISO"), (name: "TimeZone", value: "UTC")] + self.settings
        for (index, setting) in settings.enumerated() {
            query.appendLiteral(index == 0 ? "select pg_catalog.set_config(" : ", pg_catalog.set_config(")
            query.appendInterpolation(setting.name)
            query.appendLiteral(", ")
            query.appendInterpolation(setting.value)
            query.appendLiteral(", false)")
        }
        return PostgresQuery(stringInterpolation: query)
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomReflectable {
    /// Host, port, database and user.
    package var description: String {
        let host = self.parameters["host"] ?? self.parameters["hostaddr"] ?? "default host"
        let port = self.parameters["port"].map { ":\($0)" } ?? ""
        let database = self.parameters["dbname"].map { "/\($0)" } ?? ""
        let user = self.parameters["user"].map { " as \($0)" } ?? ""
        return self.redaction("\(host)\(port)\(database)\(user)")
    }

    package var customMirror: Mirror { Mirror(self, children: ["address": self.description]) }
}
