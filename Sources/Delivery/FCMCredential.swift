package import FCM
import Locking

/// The Firebase project that messages are sent to, with its access tokens; replaced whole when the key file is read
/// anew.
package final class FCMCredential: Sendable {
    package struct Current: Sendable {
        package var tokens: AccessTokenSource
        /// The id of the Firebase project.
        package var project: String { self.tokens.account.projectID }
    }

    private let state: Locked<Current>

    package init(tokens: AccessTokenSource) {
        self.state = Locked(Current(tokens: tokens))
    }

    package var current: Current { self.state.withLock { $0 } }

    package func replace(tokens: AccessTokenSource) {
        self.state.withLock { $0 = Current(tokens: tokens) }
    }
}
