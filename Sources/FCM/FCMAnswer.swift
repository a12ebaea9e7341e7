import FoundationEssentials

/// The body of FCM's answers, as far as we read it: `protocol.md` B.5. Any member may be missing or of another type;
/// it is as good as none then.
struct FCMAnswer: Decodable {
    /// Of an acceptance: `projects/<project>/messages/<id>`.
    var name: String?
    var error: Failure?

    struct Failure: Decodable {
        var status: String?
        var message: String?
        var details: [Detail] = []

        enum CodingKeys: CodingKey {
            case status, message, details
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.status = try? container.decode(String.self, forKey: .status)
            self.message = try? container.decode(String.self, forKey: .message)
            self.details = (try? container.decode([Detail].self, forKey: .details)) ?? []
        }
    }

    /// One of several kinds of detail, told apart by `@type`; their order varies.
    struct Detail: Decodable {
        var type: String?
        /// Of an FcmError.
        var errorCode: String?
        /// Of an ErrorInfo.
        var reason: String?
        /// Of a BadRequest.
        var fieldViolations: [Violation] = []
        /// Of a QuotaFailure.
        var violations: [Violation] = []

        enum CodingKeys: String, CodingKey {
            case type = "@type"
            case errorCode, reason, fieldViolations, violations
        }

        init(from decoder: any Decoder) throws {
            guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            self.type = try? container.decode(String.self, forKey: .type)
            self.errorCode = try? container.decode(String.self, forKey: .errorCode)
            self.reason = try? container.decode(String.self, forKey: .reason)
            self.fieldViolations = (try? container.decode([Violation].self, forKey: .fieldViolations)) ?? []
            self.violations = (try? container.decode([Violation].self, forKey: .violations)) ?? []
        }
    }

    struct Violation: Decodable {
        var field: String?
        var subject: String?
        var description: String?

        enum CodingKeys: CodingKey {
            case field, subject, description
        }

        init(from decoder: any Decoder) throws {
            guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return }
            self.field = try? container.decode(String.self, forKey: .field)
            self.subject = try? container.decode(String.self, forKey: .subject)
            self.description = try? container.decode(String.self, forKey: .description)
        }
    }

    enum CodingKeys: CodingKey {
        case name, error
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.name = try? container.decode(String.self, forKey: .name)
        self.error = try? container.decode(Failure.self, forKey: .error)
    }

    // MARK: - What it says

    /// FCM's own error code. `error.status` is only the general one of Google's APIs, and differs.
    var errorCode: String? {
        self.details.first { $0.type?.hasSuffix("google.firebase.fcm.v1.FcmError") == true && $0.errorCode != nil }?
            .errorCode
    }

    /// Google's word for a refusal before FCM looked at the message: `ACCESS_TOKEN_EXPIRED`, `SERVICE_DISABLED`, …
    var errorInfoReason: String? {
        self.details.first { $0.type?.hasSuffix("google.rpc.ErrorInfo") == true && $0.reason != nil }?.reason
    }

    /// The first field of the message that is named as wrong.
    var wrongField: String? {
        self.details.flatMap(\.fieldViolations).compactMap(\.field).first
    }

    /// Whether it is the address that is wrong, by the field or by the words of the message.
    var namesToken: Bool {
        self.details.flatMap(\.fieldViolations).contains { $0.field == "message.token" || $0.field == "message.fid" }
            || self.error?.message?.contains("registration token") == true
    }

    /// Whether a quota is one device's, not the project's.
    var isDeviceQuota: Bool {
        self.details.flatMap(\.violations).contains { violation in
            [violation.subject, violation.description].contains { $0?.lowercased().contains("device") == true }
        }
    }

    private var details: [Detail] { self.error?.details ?? [] }
}
