/// Properties that answers must have, told anew here rather than asked of the code that is tried.
extension String {
    var isPrintableASCII: Bool { self.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// Letters, digits, `_`, `.`, `-`: what a reason may be made of.
    var isReasonWord: Bool {
        !self.isEmpty
            && self.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2E, 0x2D: true
                default: false
                }
            }
    }

    /// Why this may not stand on a lock screen; nil when it may.
    func faultOnScreen(keepsLines: Bool) -> String? {
        var previous: Unicode.Scalar = " "
        for scalar in self.unicodeScalars {
            defer { previous = scalar }
            if keepsLines, scalar == "\n" { continue }
            switch scalar.value {
            case 0x200C, 0x200D: continue
            case 0xE0020...0xE007F:
                let isInFlag = previous.value == 0x1F3F4 || (0xE0020...0xE007E).contains(previous.value)
                if !isInFlag { return "a tag outside a flag" }
            case 0x2028, 0x2029: return "a line separator"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .surrogate: return "U+\(String(scalar.value, radix: 16, uppercase: true))"
                case .unassigned where scalar.properties.isNoncharacterCodePoint: return "a non-character"
                default: continue
                }
            }
        }
        return nil
    }

    /// Swift compares by canonical equivalence; two texts can be equal and not the same.
    func isSame(as other: String) -> Bool { self.utf8.elementsEqual(other.utf8) }
}
