private import CLibPQ

/// Turns what server and libpq say into errors that are safe to print.
enum ServerMessage {
    static func error(from result: OpaquePointer, redaction: Redaction) -> PostgresError {
        func field(_ code: Character) -> String? {
            let code = code.asciiValue.map(Int32.init) ?? 0
            return PQresultErrorField(result, code).map { redaction(String(cString: $0)) }
        }
        // The letters are libpq's PG_DIAG_… codes, which are character macros.
        let whole = PQresultErrorMessage(result).map { redaction(String(cString: $0)) } ?? ""
        guard let sqlState = field("C") else { return .connection(self.read(whole).text) }
        var message = field("M") ?? whole
        // Data exceptions quote the value they complain about.
        if sqlState.hasPrefix("22") { message = self.withoutQuotation(message) }
        if let hint = field("H") { message += " (\(hint))" }
        // FATAL and PANIC end the connection.
        guard field("V") == "ERROR" else { return .connection(message, sqlState: sqlState) }
        return PostgresError(.server(sqlState: sqlState), sqlState: sqlState, message: message, details: whole)
    }

    static func notice(from result: OpaquePointer) -> PostgresNotice {
        func field(_ code: Character) -> String {
            let code = code.asciiValue.map(Int32.init) ?? 0
            return PQresultErrorField(result, code).map { String(cString: $0) } ?? ""
        }
        return PostgresNotice(severity: field("V"), sqlState: field("C"), message: field("M"))
    }

    /// A message of libpq in one line: without DETAIL and the place in the server's source, the SQLSTATE set apart.
    static func read(_ message: String) -> (text: String, sqlState: String?) {
        var sqlState: String?
        var lines: [String] = []
        for var line in message.split(separator: "\n") {
            // After a tab libpq asks "Is the server running on that host …?"
            let isAside = ["DETAIL:", "LOCATION:", "CONTEXT:", "\t"].contains { line.hasPrefix($0) }
            guard !isAside else { continue }
            // `… failed: FATAL:  28P01: password authentication failed for user "push"`
            if let match = line.firstMatch(of: /(FATAL|PANIC|ERROR):\s+([0-9A-Z]{5}):\s/) {
                sqlState = String(match.2)
                line.replace(match.0, with: "")
            }
            // libpq repeats itself after a second attempt, with or without TLS.
            if lines.last != String(line) { lines.append(String(line)) }
        }
        return (lines.isEmpty ? "the connection failed" : lines.joined(separator: "; "), sqlState)
    }

    private static func withoutQuotation(_ message: String) -> String {
        guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""), first < last else {
            return message
        }
        return "\(message[..<first])\"…\"\(message[message.index(after: last)...])"
    }
}

/// Hands the server's notices to a closure.
final class NoticeReceiver: Sendable {
    private let receive: @Sendable (PostgresNotice) -> Void

    init(_ receive: @escaping @Sendable (PostgresNotice) -> Void) {
        self.receive = receive
    }

    /// libpq keeps an unretained pointer: the caller holds this object for as long as the connection exists.
    func install(on connection: OpaquePointer) {
        PQsetNoticeReceiver(connection, receiveNotice, Unmanaged.passUnretained(self).toOpaque())
    }

    fileprivate func callAsFunction(_ notice: PostgresNotice) {
        self.receive(notice)
    }
}

private func receiveNotice(context: UnsafeMutableRawPointer?, result: OpaquePointer?) {
    guard let context, let result else { return }
    Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue()(ServerMessage.notice(from: result))
}
