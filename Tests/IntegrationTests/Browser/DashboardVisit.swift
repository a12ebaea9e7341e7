import FoundationEssentials
import JSONWebToken
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// The dashboard of a worker that runs as a process, and a browser in front of it.
struct DashboardVisit: Sendable {
    enum Role: String, CaseIterable, Sendable {
        case viewer, `operator`

        var token: String { "\(self.rawValue)-token-of-the-browser-tests" }
    }

    let installation: Installation
    let browser: WebDriver
    private let port: UInt16

    /// Of the suite that runs.
    @TaskLocal static var current: DashboardVisit?

    static func now(sourceLocation: SourceLocation = #_sourceLocation) throws -> DashboardVisit {
        try #require(Self.current, sourceLocation: sourceLocation)
    }

    /// Everything for as long as `body` takes; the browser is closed and the worker stopped whatever comes.
    static func run(_ body: () async throws -> Void) async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker([
            "PUSH_OPERATOR_TOKEN": Role.operator.token, "PUSH_VIEWER_TOKEN": Role.viewer.token,
        ])
        do {
            let port = try await ServingProcessTests.port(of: worker)
            try await WebDriver.run { browser in
                let visit = DashboardVisit(installation: installation, browser: browser, port: port)
                try await Self.$current.withValue(visit) { try await body() }
                try await visit.settle()
            }
        } catch {
            worker.signal(9)
            _ = try? await worker.waitForExit()
            try? await installation.remove()
            throw error
        }
        try await installation.stop(worker)
    }

    // MARK: - Ways

    func address(_ path: String) -> String { "http://127.0.0.1:\(self.port)\(path)" }

    func open(_ path: String) async throws { try await self.browser.open(self.address(path)) }

    /// As a person does it. A session that there was ends.
    func signIn(as role: Role, at path: String = "/") async throws {
        try await self.open("/sign-in")
        try await self.browser.type(role.token, into: "#token")
        try await self.browser.click("main button")
        try await self.browser.wait(for: "Overview", in: "h1")
        if path != "/" { try await self.open(path) }
    }

    /// Says yes to the question that is asked.
    func confirm(_ question: String) async throws {
        try await self.browser.wait(for: question, in: "dialog h2")
        try await self.browser.click("dialog .actions button:first-child")
    }

    /// What happens on a page from here on happens without loading it again.
    func mark() async throws { try await self.browser.run("window.isMarked = true") }

    func isMarked() async throws -> Bool {
        try await self.browser.run("return window.isMarked === true") == .bool(true)
    }

    /// Sends a form by script, as anybody could; the status of the answer.
    func post(_ path: String, _ fields: [String: String]) async throws -> JSONValue {
        try await self.browser.run(
            """
            return fetch(arguments[0], {method: 'POST', body: new URLSearchParams(arguments[1])})
                .then((answer) => answer.status)
            """, [.string(path), .object(fields.mapValues { .string($0) })])
    }

    /// An operator's action by the API.
    @discardableResult
    func act(_ path: String, _ command: JSONValue = [:]) async throws -> String {
        try await ChildProcess.run(
            "/usr/bin/curl",
            [
                "-sSf", "-m", "60", "-H", "Authorization: Bearer \(Role.operator.token)", "--data-raw", command.json,
                self.address("/api/v1" + path),
            ])
    }

    // MARK: - The queue

    func delivery(of notification: UUID) async throws -> UUID {
        let row = try await self.installation.admin.query(
            "select id from push.deliveries where notification_id = \(notification)"
        ).first
        return try #require(row).uuid(0)
    }

    /// An account with an iPhone.
    func person() async throws -> (account: UUID, token: String) {
        let account = try await self.installation.account()
        return (account, try await self.installation.phone(.ios, of: account).token)
    }

    /// Notifications whose push APNs refused for good; it would take them by now.
    func discarded(_ count: Int) async throws -> (account: UUID, token: String, notifications: [UUID]) {
        let (account, token) = try await self.person()
        self.installation.simulator.setFaults(
            FaultPlan([FaultRule(.apns, token: token, answer: .init(status: 400, reason: "BadPriority"))]))
        let ids = try await (0..<count).asyncMap { _ in
            try await self.installation.notify(account, kind: "invitation_received")
        }
        for id in ids {
            #expect(try await self.installation.ends(of: id, count: 1) == ["discarded BadPriority"])
        }
        self.installation.simulator.setFaults(FaultPlan())
        return (account, token, ids)
    }

    /// FCM takes nothing for as long as `body` takes, by an operator's word that workers have heard of.
    func withFCMPaused(_ body: () async throws -> Void) async throws {
        try await self.act("/providers/fcm/pause", ["note": "an incident at Google"])
        try await self.installation.waitForHeartbeats(2)
        do {
            try await body()
        } catch {
            try await self.act("/providers/fcm/resume")
            throw error
        }
        try await self.act("/providers/fcm/resume")
    }

    /// Everything open, and nothing waits.
    func settle() async throws {
        self.installation.simulator.setFaults(FaultPlan())
        for endpoint in ProviderEndpoint.allCases { try await self.act("/providers/\(endpoint.rawValue)/resume") }
        try await eventually {
            try await self.act("/deliveries/retry", ["filter": ["state": "available"]])
            return (try? await self.installation.waitUntilDrained(within: .seconds(5))) != nil
        }
    }
}

/// One installation, worker and browser for all suites inside.
struct DashboardVisitTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await DashboardVisit.run { try await function() }
    }
}

extension Trait where Self == DashboardVisitTrait {
    static var dashboardVisit: Self { DashboardVisitTrait() }
}
