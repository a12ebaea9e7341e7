extension FCMOutcome {
    /// Every code FCM documents, and the words of Google's gateway before it: a closed set, for metrics.
    package static let knownReasons =
        FCMReaction.table.compactMap(\.code) + [
            "SERVICE_DISABLED", "IAM_PERMISSION_DENIED", "CONSUMER_INVALID", "ACCESS_TOKEN_EXPIRED",
            "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "ACCESS_TOKEN_TYPE_UNSUPPORTED", "CREDENTIALS_MISSING",
            "RATE_LIMIT_EXCEEDED", "PERMISSION_DENIED", "UNAUTHENTICATED", "NOT_FOUND", "RESOURCE_EXHAUSTED",
            "DEADLINE_EXCEEDED", "UNSPECIFIED_ERROR",
        ]
}
