private import Glibc

enum TextFile {
    /// The bytes of a file of at most 16 MiB; nil with `errno` set when it cannot be read.
    static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count < 16 * 1024 * 1024 {
            let count = Glibc.read(file, &piece, piece.count)
            guard count >= 0 else { return nil }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: piece[..<count])
        }
        errno = EFBIG
        return nil
    }
}
