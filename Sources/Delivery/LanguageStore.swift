package import Localization
import Locking

/// The languages in use; replaced whole when the files are read anew.
package final class LanguageStore: Sendable {
    private let catalog: Locked<LanguageCatalog>

    package init(_ catalog: LanguageCatalog) {
        self.catalog = Locked(catalog)
    }

    package var current: LanguageCatalog { self.catalog.withLock { $0 } }

    package func replace(_ catalog: LanguageCatalog) {
        self.catalog.withLock { $0 = catalog }
    }
}
