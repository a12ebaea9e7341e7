private import Cryptography
import Dashboard
private import Locking

/// Somebody who signed in with a token.
struct OperatorSession: Sendable {
    var role: PageContext.Role
    /// Stands in every form, and comes back with it.
    var csrfToken: String
    var startedAt: ContinuousClock.Instant
    var usedAt: ContinuousClock.Instant
    /// What was just done, to be told on the next page.
    var notice: String?
}

/// Who is signed in, in memory: a restart signs everybody out.
///
/// The id in the cookie is 32 random bytes; kept is its hash, so that whoever reads our memory's remains cannot sign in
/// with it.
final class Sessions: Sendable {
    /// After so long without a request, and after so long in any case.
    static let idleLimit = Duration.seconds(2 * 3600)
    static let lifetime = Duration.seconds(12 * 3600)
    /// More than people who are on call; the one unused longest goes first.
    private static let most = 500

    private let sessions = Locked<[[UInt8]: OperatorSession]>([:])

    /// - Returns: the id, for the cookie.
    func begin(_ role: PageContext.Role, now: ContinuousClock.Instant = .now) -> String {
        let id = Base64URL.encode(randomBytes(32))
        let session = OperatorSession(
            role: role, csrfToken: Base64URL.encode(randomBytes(32)), startedAt: now, usedAt: now)
        self.sessions.withLock { sessions in
            sessions = sessions.filter { !Self.isOver($0.value, now) }
            if sessions.count >= Self.most, let oldest = sessions.min(by: { $0.value.usedAt < $1.value.usedAt }) {
                sessions[oldest.key] = nil
            }
            sessions[Self.key(id)] = session
        }
        return id
    }

    /// The session of an id; nil for one that is unknown or over.
    ///
    /// - Parameter isUse: whether it counts as a sign of life. What a page does by itself does not.
    func session(_ id: String, isUse: Bool = true, now: ContinuousClock.Instant = .now) -> OperatorSession? {
        // Looked up by the hash: how long that takes tells nothing of any id.
        let key = Self.key(id)
        return self.sessions.withLock { sessions in
            guard var session = sessions[key] else { return nil }
            guard !Self.isOver(session, now) else {
                sessions[key] = nil
                return nil
            }
            if isUse {
                session.usedAt = now
                sessions[key] = session
            }
            return session
        }
    }

    func leaveNotice(_ notice: String, for id: String) {
        let key = Self.key(id)
        self.sessions.withLock { $0[key]?.notice = notice }
    }

    func takeNotice(_ id: String) -> String? {
        let key = Self.key(id)
        return self.sessions.withLock { sessions in
            defer { sessions[key]?.notice = nil }
            return sessions[key]?.notice
        }
    }

    func end(_ id: String) {
        let key = Self.key(id)
        self.sessions.withLock { $0[key] = nil }
    }

    private static func key(_ id: String) -> [UInt8] { SHA256.hash(Array(id.utf8)) }

    private static func isOver(_ session: OperatorSession, _ now: ContinuousClock.Instant) -> Bool {
        now - session.usedAt >= self.idleLimit || now - session.startedAt >= self.lifetime
    }
}
