package import FCM
import Locking

/// The Firebase project that messages are sent to, with its access tokens; replaced whole when the key file is read
/// anew.
package final class FCMCredential: Sendable {
    package struct Current: Sendable {
        /// The id of the Firebase project.
        package var project: String
        package var tokens: AccessTokenSource
    }

    private let state: Locked<Current>

    package init(project: String, tokens: AccessTokenSource) {
        self.state = Locked(Current(project: project, tokens: tokens))
    }

    package var current: Current { self.state.withLock { $0 } }

    package func replace(project: String, tokens: AccessTokenSource) {
        self.state.withLock { $0 = Current(project: project, tokens: tokens) }
    }
}
