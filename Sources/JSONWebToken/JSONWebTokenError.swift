/// Why a text is not a JWT in compact form. The description holds nothing of the text.
package enum JSONWebTokenError: Error, Hashable, CustomStringConvertible {
    /// The longest text that is read, in bytes.
    package static let longest = 16 * 1024

    case tooLong
    case notThreeParts(Int)
    /// Padding, white space, a character of another alphabet, or left-over bits.
    case notBase64URL(JSONWebToken.Part)
    case notAnObject(JSONWebToken.Part)
    /// The header has no `alg`, or not a string.
    case noAlgorithm

    package var description: String {
        switch self {
        case .tooLong: "a JWT of more than \(Self.longest) bytes"
        case .notThreeParts(let count): "a JWT has three parts with dots between them, not \(count)"
        case .notBase64URL(let part): "the \(part.rawValue) of the JWT is not base64url without padding"
        case .notAnObject(let part): "the \(part.rawValue) of the JWT is not a JSON object"
        case .noAlgorithm: "the header of the JWT names no alg"
        }
    }
}
