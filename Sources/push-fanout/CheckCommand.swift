import CommandLineArguments
import Localization

/// `push-fanout check`: everything a worker needs, one line each, with what to do where something is amiss.
enum CheckCommand {
    static let declaration = Command(
        "check", summary: "Checks configuration, database, trigger, templates, keys and providers.",
        flags: (Setting.database + Setting.providers + [.templates] + Setting.working).flatMap(\.flags),
        notes: "Nothing is delivered to any phone. Exit status 0 when all is well, 1 when something is not.")

    /// What one check found.
    struct Finding: Sendable {
        enum Grade: String, Sendable {
            case ok, warning, failed
        }

        var grade: Grade
        var subject: String
        var text: String
        var fix: String?

        static func ok(_ subject: String, _ text: String) -> Finding {
            Finding(grade: .ok, subject: subject, text: text)
        }

        static func warning(_ subject: String, _ text: String, fix: String) -> Finding {
            Finding(grade: .warning, subject: subject, text: text, fix: fix)
        }

        static func failed(_ subject: String, _ text: String, fix: String?) -> Finding {
            Finding(grade: .failed, subject: subject, text: text, fix: fix)
        }

        /// One line, whatever the text holds.
        var line: String {
            let grade = self.grade.rawValue + String(repeating: " ", count: 8 - self.grade.rawValue.count)
            let subject = self.subject + String(repeating: " ", count: max(0, 12 - self.subject.count))
            let text = "\(grade) \(subject) \(self.text)" + (self.fix.map { ": \($0)" } ?? "")
            return String(text.map { $0.isNewline ? " " : $0 })
        }
    }

    static func run(_ configuration: Configuration) async -> Int32 {
        var isWell = true
        func report(_ findings: [Finding]) {
            for finding in findings {
                print(finding.line)
                if finding.grade == .failed { isWell = false }
            }
        }
        report(Self.settings(configuration))
        report(await DatabaseCheck.findings(configuration))
        report(await ProviderCheck.findings(configuration))
        return isWell ? PushFanout.ExitStatus.done : PushFanout.ExitStatus.failed
    }

    private static func settings(_ configuration: Configuration) -> [Finding] {
        var findings: [Finding] = []
        do {
            _ = try configuration.delivery()
            _ = try configuration.values.integer(.window, in: 1...10_000)
            _ = try configuration.values.integer(.connections, in: 1...64)
            findings.append(.ok("settings", "read"))
        } catch {
            findings.append(.failed("settings", "\(error)", fix: nil))
        }
        do {
            let languages = try configuration.languages()
            findings.append(.ok("templates", "languages \(languages.languages.joined(separator: ", "))"))
        } catch {
            findings.append(.failed("templates", "\(error)", fix: nil))
        }
        return findings
    }
}
