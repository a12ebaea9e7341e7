extension HTTPFailure {
    /// Every reason but those that are `libcurl_` and a number: a closed set, for metrics.
    package static let knownReasons = [
        "name_not_resolved", "connect_failed", "connect_timed_out", "tls_failed", "certificate_refused",
        "ca_file_unusable", "http1_refused", "invalid_url", "invalid_request", "shut_down", "no_resources",
        "out_of_memory", "credential_superseded", "timed_out", "connection_lost", "stream_reset", "http2_error",
        "resend_refused", "aborted", "libcurl_failed",
    ]
}
