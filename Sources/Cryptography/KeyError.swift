/// Why a text is not the key that is needed, or why a key did not do its work.
///
/// The description is made for a person and never holds any part of the text it is about.
package struct KeyError: Error, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case empty
        case notPEM = "not_pem"
        /// `-----BEGIN` without its `-----END`, or characters that base64 does not have.
        case damaged
        /// Protected by a passphrase. Nobody is there to type one.
        case encrypted
        case certificate
        case publicKey = "public_key"
        /// A private key in a form that is not read here.
        case unsupported
        case severalKeys = "several_keys"
        /// The right form of text for the wrong kind of key.
        case wrongKind = "wrong_kind"
        /// OpenSSL refused an operation.
        case failed
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
