import PushModel
package import QueueInspection

import struct FoundationEssentials.Date

/// What of an overview needs a person, in plain words, worst first.
package struct Attention: Equatable, Sendable {
    package enum Severity: Int, Comparable, Sendable {
        /// Pushes are held up, or are being lost to somebody.
        case trouble = 0
        /// It may become trouble.
        case watch = 1

        package static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
    }

    package var severity: Severity
    /// What is wrong, as a sentence.
    package var sentence: String
    /// What to do, as a sentence.
    package var advice: String
    /// Where to look.
    package var look: Look?

    package struct Look: Equatable, Sendable {
        package var label: String
        package var route: Route
    }

    /// Older than this in the outbox: something is slow. A sound queue empties in milliseconds.
    package static let slow = 60.0
    /// Older than this: something is broken.
    package static let stuck = 300.0

    package static func findings(in overview: Overview) -> [Attention] {
        let all =
            self.workers(overview) + self.providers(overview) + self.backlog(overview) + self.refusals(overview)
        // `sorted` keeps no order among equals; the order of the list does.
        return all.filter { $0.severity == .trouble } + all.filter { $0.severity == .watch }
    }

    private static func workers(_ overview: Overview) -> [Attention] {
        let running = overview.workers.filter { $0.condition == .running }
        guard !running.isEmpty else {
            return [
                Attention(
                    severity: .trouble, sentence: "No worker is running, so nothing is being sent.",
                    advice: "Start one: push-fanout run, or systemctl start push-fanout. What waits is kept.", look: nil
                )
            ]
        }
        var found: [Attention] = []
        for worker in overview.workers where worker.condition == .lost && worker.running > 0 {
            found.append(
                Attention(
                    severity: .watch,
                    sentence:
                        "Worker \(worker.name) went silent with \(Format.count(worker.running, "notification", "notifications")) in hand.",
                    advice: "Nothing is lost: another worker takes them when the lease ends. Look why it died.",
                    look: nil))
        }
        if !running.contains(where: \.isListening) {
            found.append(
                Attention(
                    severity: .watch, sentence: "No worker hears NOTIFY, so pushes wait for the next poll.",
                    advice: "Usual behind a transaction pooler. Otherwise look in the worker's log for the listener.",
                    look: nil))
        }
        return found
    }

    private static func providers(_ overview: Overview) -> [Attention] {
        overview.providers.compactMap { provider in
            guard let pause = provider.pause else { return nil }
            let name = Explanation.endpoint(provider.endpoint)
            let depth = overview.endpoints.first { $0.endpoint == provider.endpoint }
            let waiting = depth.map { "; \($0.count) wait for it" } ?? ""
            switch pause.by {
            case .person(let person):
                return Attention(
                    severity: .watch, sentence: "\(name) was paused by \(person)\(waiting).",
                    advice: "Resume it when the reason has passed: \(pause.reason).", look: nil)
            case .worker:
                let why = Explanation.reason(named: pause.reason).title
                guard let fix = pause.fix else {
                    return Attention(
                        severity: .watch, sentence: "\(name) rests for a while: \(why)\(waiting).",
                        advice: "Nothing to do: it goes on by itself.", look: nil)
                }
                return Attention(
                    severity: .trouble, sentence: "\(name) is paused: \(why)\(waiting). Nothing is lost.",
                    advice: self.asSentence(fix), look: nil)
            }
        }
    }

    private static func backlog(_ overview: Overview) -> [Attention] {
        var found: [Attention] = []
        if let oldest = overview.oldestWaitingSeconds, oldest > self.slow {
            found.append(
                Attention(
                    severity: oldest > self.stuck ? .trouble : .watch,
                    sentence: "The oldest notification has waited \(Format.duration(seconds: oldest)) to be looked at.",
                    advice: "Workers are too few, or the database is slow.",
                    look: Look(label: "Look at the database", route: .database)))
        }
        for depth in overview.endpoints {
            guard let oldest = depth.oldestDueSeconds, oldest > self.slow,
                overview.providers.first(where: { $0.endpoint == depth.endpoint })?.isPaused != true
            else { continue }
            found.append(
                Attention(
                    severity: oldest > self.stuck ? .trouble : .watch,
                    sentence:
                        "\(Format.count(depth.due.value, "retry", "retries")) to \(Explanation.endpoint(depth.endpoint)) should have gone out up to \(Format.duration(seconds: oldest)) ago.",
                    advice: "Is a worker running that has credentials for it?",
                    look: Look(
                        label: "See them",
                        route: .deliveries(
                            Route.Query([
                                ("state", "available"),
                                ("platform", depth.endpoint.provider == .fcm ? "android" : "ios"),
                            ])))))
        }
        return found
    }

    /// A fifth of the last ten minutes' ends, twenty at least: beyond what uninstalled apps explain.
    private static func refusals(_ overview: Overview) -> [Attention] {
        let recent = overview.series.minutes.suffix(10)
        let discarded = recent.reduce(0) { $0 + $1.discarded }
        let ended = discarded + recent.reduce(0) { $0 + $1.accepted }
        guard discarded >= 20, discarded * 5 >= ended, let first = recent.first else { return [] }
        return [
            Attention(
                severity: .watch,
                sentence:
                    "In the last ten minutes \(Format.number(discarded)) of \(Format.number(ended)) pushes were given up.",
                advice: "One reason for most of them points to the configuration.",
                look: Look(
                    label: "See them",
                    route: .deliveries(
                        Route.Query([("state", "discarded"), ("since", MomentText.write(first.minute))]))))
        ]
    }

    private static func asSentence(_ text: String) -> String {
        guard let first = text.first else { return text }
        return first.uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }
}
