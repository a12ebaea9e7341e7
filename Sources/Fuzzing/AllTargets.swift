extension FuzzTarget {
    /// Every parser of what comes from outside.
    package static let all: [FuzzTarget] = [
        .apnsAnswer, .fcmAnswer, .httpAnswer, .accessToken, .retryAfter, .httpDate, .jsonWebToken, .base64URL,
        .jsonValue, .serviceAccount, .pemKey, .localeTag, .languageFile, .template, .displayText, .renderedText,
        .apnsPayload, .deviceToken, .postgresArray, .postgresTimestamp, .postgresUUID, .postgresNumber,
        .connectionString, .orderedJSON, .faultPlan,
    ]
}
