internal import FoundationEssentials
internal import Testing

@testable internal import PushSimulator

/// FCM with one access token given out.
private struct Host {
    var validator: FCMValidator
    var tokens = AccessTokens()
    var state = FCMState()
    var devices: DeviceRegistry
    var now = Sample.now
    let token: String

    init(rules: SimulatorRules = SimulatorRules(), devices: [SimulatedDevice] = Self.devices) {
        self.validator = FCMValidator(projectID: "p", rules: rules)
        self.devices = DeviceRegistry(devices)
        self.token = self.tokens.issue(seconds: 3599, now: Sample.now)
    }

    static let devices = [
        SimulatedDevice(platform: .android, token: "t:1", package: "com.example"),
        SimulatedDevice(platform: .android, token: "gone", state: .unregistered),
        SimulatedDevice(platform: .android, token: "other", state: .senderMismatch),
        SimulatedDevice(platform: .android, token: "fid1", target: .fid),
    ]

    var request: SimulatedRequest {
        SimulatedRequest(
            path: "/v1/projects/p/messages:send",
            headers: [("authorization", "Bearer \(self.token)"), ("content-type", "application/json")],
            body: Array(Sample.message.utf8))
    }

    mutating func ask(_ request: SimulatedRequest) -> SimulatedAnswer {
        self.validator.answer(
            to: request, tokens: self.tokens, state: &self.state, devices: self.devices, now: self.now)
    }

    mutating func ask(_ body: String) -> SimulatedAnswer { self.ask(self.request.with(body: body)) }

    /// A body around the parts of the message that change.
    static func body(
        android: String = #"{"priority":"HIGH","ttl":"2419200s"}"#, data: String = #"{"id":"1","kind":"system"}"#,
        target: String = #""token":"t:1""#, more: String = ""
    ) -> String {
        #"{"message":{"android":\#(android),"data":\#(data),\#(target)\#(more)}}"#
    }
}

extension SimulatedAnswer {
    fileprivate var json: OrderedJSON? { OrderedJSON(self.body) }
    fileprivate var message: String? { self.json?["error"]?["message"]?.string }
    fileprivate var rpcStatus: String? { self.json?["error"]?["status"]?.string }

    private func detail(_ type: String) -> OrderedJSON? {
        guard case .array(let details)? = self.json?["error"]?["details"] else { return nil }
        return details.first { $0["@type"]?.string == "type.googleapis.com/\(type)" }
    }

    fileprivate var errorCode: String? {
        self.detail("google.firebase.fcm.v1.FcmError")?["errorCode"]?.string
    }
    fileprivate var errorInfo: String? { self.detail("google.rpc.ErrorInfo")?["reason"]?.string }
    fileprivate var violatedField: String? {
        guard case .array(let violations)? = self.detail("google.rpc.BadRequest")?["fieldViolations"] else {
            return nil
        }
        return violations.first?["field"]?.string
    }
}

@Suite struct FCMValidatorTests {
    @Test func `a right message gets a name`() throws {
        var host = Host()
        let answer = host.ask(host.request)
        #expect(answer.status == 200)
        #expect(try #require(answer.json?["name"]?.string).hasPrefix("projects/p/messages/0:"))
    }

    @Test func `camelCase is understood, validate_only delivers nothing`() {
        var host = Host()
        let body = Host.body(
            android: #"{"priority":"normal","ttl":"3.5s","collapseKey":"c","restrictedPackageName":"com.example"}"#)
        #expect(host.ask(body).status == 200)
        let trial = host.ask(#"{"validateOnly":true,"# + Host.body().dropFirst())
        #expect(trial.json?["name"] == "projects/p/messages/fake_message_id")
    }

    @Test(arguments: ["/v1/p/messages:send", "/v1/projects/p/messages:sent", "/v1/projects//messages:send", "/"])
    func `a wrong path is answered with a page, not an FCM error`(path: String) {
        var host = Host()
        let answer = host.ask(host.request.with(path: path))
        #expect(answer.status == 404)
        #expect(answer.header("content-type")?.hasPrefix("text/html") == true)
        #expect(answer.json == nil)
        #expect(host.ask(host.request.with(method: "GET")).status == 404)
    }

    @Test func `credentials come before anything in the body`() {
        var host = Host()
        let missing = host.ask(host.request.with("authorization", nil).with(body: "x"))
        #expect(missing.status == 401)
        #expect(missing.errorInfo == "CREDENTIALS_MISSING")
        #expect(missing.rpcStatus == "UNAUTHENTICATED")
        let unknown = host.ask(host.request.with("authorization", "Bearer nobody"))
        #expect(unknown.status == 401)
        #expect(unknown.errorInfo == nil)
        #expect(unknown.message?.hasPrefix("Request had invalid authentication credentials.") == true)
        host.now += 3599
        let expired = host.ask(host.request)
        #expect(expired.status == 401)
        #expect(expired.errorInfo == "ACCESS_TOKEN_EXPIRED")
        #expect(expired.errorCode == nil)
    }

    @Test func `another project is a matter of permission`() {
        var host = Host()
        let answer = host.ask(host.request.with(path: "/v1/projects/q/messages:send"))
        #expect(answer.status == 403)
        #expect(answer.rpcStatus == "PERMISSION_DENIED")
        #expect(answer.errorInfo == "IAM_PERMISSION_DENIED")
        #expect(answer.errorCode == nil)
        #expect(
            answer.message
                == "Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/q' (or it may not exist)."
        )
    }

    @Test func `a request without authority is bad`() {
        var host = Host()
        var request = host.request
        request.authority = nil
        #expect(host.ask(request).status == 400)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var number: Int
        var body: String
        var message: String
        var field: String?
        var code: String?

        init(_ number: Int, _ body: String, _ message: String, field: String? = nil, code: String? = nil) {
            self.number = number
            self.body = body
            self.message = message
            self.field = field
            self.code = code
        }

        var testDescription: String { "row \(self.number): \(self.message)" }
    }

    static let rows: [Row] = [
        Row(7, "{", "Invalid JSON payload received. Unexpected token."),
        Row(
            7, Host.body(target: #""toen":"t:1""#),
            "Invalid JSON payload received. Unknown name \"toen\" at 'message': Cannot find field.", field: "message"),
        Row(
            7, Host.body(android: #"{"prio":"HIGH"}"#),
            "Invalid JSON payload received. Unknown name \"prio\" at 'message.android': Cannot find field.",
            field: "message.android"),
        Row(
            7, #"{"massage":{}}"#, "Invalid JSON payload received. Unknown name \"massage\": Cannot find field.",
            field: ""),
        Row(
            8, Host.body(data: #"{"id":12,"kind":"x"}"#), "Invalid value at 'message.data[0].value' (TYPE_STRING), 12",
            field: "message.data[0].value"),
        Row(
            8, Host.body(data: #"{"id":"1","kind":true}"#),
            "Invalid value at 'message.data[1].value' (TYPE_STRING), true", field: "message.data[1].value"),
        Row(
            9, Host.body(android: #"{"priority":"HIGH","ttl":86400}"#),
            "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), 86400",
            field: "message.android.ttl"),
        Row(
            9, Host.body(android: #"{"priority":"HIGH","ttl":"2419201s"}"#),
            "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), \"2419201s\"",
            field: "message.android.ttl"),
        Row(
            10, Host.body(android: #"{"priority":"High","ttl":"1s"}"#),
            "Invalid value at 'message.android.priority' (type.googleapis.com/google.firebase.fcm.v1.AndroidMessagePriority), \"High\"",
            field: "message.android.priority"),
        Row(
            11, Host.body(target: #""name":"x""#), "Recipient of the message is not set.", field: "message",
            code: "INVALID_ARGUMENT"),
        Row(
            12, Host.body(target: #""token":"t:1","fid":"fid1""#),
            "Invalid value (oneof), oneof field 'target' is already set.", field: "message"),
        Row(
            13, Host.body(data: #"{"from":"x","id":"1","kind":"y"}"#), "Invalid data payload key: from",
            code: "INVALID_ARGUMENT"),
        Row(
            13, Host.body(data: #"{"googleish":"x"}"#), "Invalid data payload key: googleish", code: "INVALID_ARGUMENT"),
        Row(
            14, Host.body(data: #"{"id":"\#(String(repeating: "x", count: 4095))"}"#),
            "Request contains an invalid argument."),
        Row(
            15, Host.body(target: #""token":"no token""#),
            "The registration token is not a valid FCM registration token", code: "INVALID_ARGUMENT"),
        Row(
            18, Host.body(android: #"{"priority":"HIGH","ttl":"1s","restricted_package_name":"com.other"}"#),
            "The package name in the message does not match.", code: "INVALID_ARGUMENT"),
    ]

    @Test(arguments: rows) func `each fault of the message has its words`(row: Row) {
        var host = Host()
        let answer = host.ask(row.body)
        #expect(answer.status == 400)
        #expect(answer.rpcStatus == "INVALID_ARGUMENT")
        #expect(answer.message == row.message)
        #expect(answer.violatedField == row.field)
        #expect(answer.errorCode == row.code)
    }

    @Test(
        arguments: [
            (Host.body(more: #","notification":{"title":"x"}"#), "Simulator: a notification object"),
            (
                Host.body(android: #"{"priority":"HIGH","ttl":"1s","notification":{}}"#),
                "Simulator: a notification object"
            ),
            (
                Host.body(data: #"{"id":"1","kind":"x","title":"y"}"#),
                "Simulator: data keys id, kind, title instead of id, kind"
            ),
            (Host.body(android: #"{"ttl":"1s"}"#), "Simulator: no android.priority"),
            (Host.body(android: #"{"priority":"HIGH"}"#), "Simulator: no android.ttl"),
        ])
    func `what the product never sends is refused in the simulator's own words`(body: String, reason: String) {
        var host = Host()
        let answer = host.ask(body)
        #expect(answer.status == 400)
        #expect(answer.reason == reason)
        var rules = SimulatorRules()
        rules.isStrict = false
        var lenient = Host(rules: rules)
        #expect(lenient.ask(body).status == 200)
    }

    @Test(
        arguments: [
            (#""token":"gone""#, 404, "NOT_FOUND", "UNREGISTERED"),
            (#""token":"never-heard-of""#, 404, "NOT_FOUND", "UNREGISTERED"),
            (#""token":"fid1""#, 404, "NOT_FOUND", "UNREGISTERED"),
            (#""fid":"t:1""#, 404, "NOT_FOUND", "UNREGISTERED"),
            (#""token":"other""#, 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"),
        ] as [(String, Int, String, String)])
    func `the state of the device decides`(target: String, status: Int, rpcStatus: String, code: String) {
        var host = Host()
        let answer = host.ask(Host.body(target: target))
        #expect(answer.status == status)
        #expect(answer.rpcStatus == rpcStatus)
        #expect(answer.errorCode == code)
        #expect(answer.reason == code)
    }

    @Test func `an installation ID is a target of its own`() {
        var host = Host()
        #expect(host.ask(Host.body(target: #""fid":"fid1""#)).status == 200)
    }

    @Test func `any token will do where that is asked for, but a malformed one stays malformed`() {
        var host = Host()
        host.devices.acceptsAnyToken = true
        #expect(host.ask(Host.body(target: #""token":"never-heard-of""#)).status == 200)
        #expect(host.ask(Host.body(target: #""token":"a b""#)).status == 400)
        #expect(host.ask(Host.body(target: #""token":"gone""#)).status == 404)
    }

    @Test func `the older words for a bad token name the field`() {
        var rules = SimulatorRules()
        rules.usesOlderInvalidTokenWords = true
        var host = Host(rules: rules)
        let answer = host.ask(Host.body(target: #""token":"a b""#))
        #expect(answer.message == "Request contains an invalid argument.")
        #expect(answer.violatedField == "message.token")
        #expect(answer.errorCode == "INVALID_ARGUMENT")
    }

    @Test func `quotas hold for a device and for the project`() {
        var rules = SimulatorRules()
        rules.pushesPerDevicePerMinute = 1
        rules.messagesPerProjectPerMinute = 3
        var host = Host(rules: rules)
        #expect(host.ask(host.request).status == 200)
        let device = host.ask(host.request)
        #expect(device.status == 429)
        #expect(device.errorCode == "QUOTA_EXCEEDED")
        #expect(device.rpcStatus == "RESOURCE_EXHAUSTED")
        #expect(device.header("retry-after") == nil)
        #expect(host.ask(Host.body(target: #""fid":"fid1""#)).status == 200)
        #expect(host.ask(host.request).header("retry-after") == "60")
        host.now += 61
        #expect(host.ask(host.request).status == 200)
    }
}
