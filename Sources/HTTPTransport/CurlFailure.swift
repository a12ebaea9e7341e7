internal import CLibCurl

extension HTTPFailure {
    /// What libcurl's code says in the record's words.
    ///
    /// The fate does not follow from the code: libcurl calls back before it hands a request to the connection
    /// (`CURLOPT_PREREQFUNCTION`), and only without that call it is certain that nothing went out.
    init(code: CURLcode, wasSent: Bool) {
        self.init(fate: wasSent ? .unknown : .notSent, reason: Self.reason(code, wasSent: wasSent))
    }

    private static func reason(_ code: CURLcode, wasSent: Bool) -> String {
        switch code {
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: "invalid_url"
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: "name_not_resolved"
        // After the request went out, libcurl connects only to send it again, and we do not let it.
        case CURLE_COULDNT_CONNECT: wasSent ? "resend_refused" : "connect_failed"
        case CURLE_SEND_FAIL_REWIND, CURLE_ABORTED_BY_CALLBACK: wasSent ? "resend_refused" : "aborted"
        case CURLE_OPERATION_TIMEDOUT: wasSent ? "timed_out" : "connect_timed_out"
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            "certificate_refused"
        case CURLE_SSL_CACERT_BADFILE: "ca_file_unusable"
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_SHUTDOWN_FAILED,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CLIENTCERT, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED:
            "tls_failed"
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: "connection_lost"
        case CURLE_HTTP2: "http2_error"
        case CURLE_HTTP2_STREAM: "stream_reset"
        case CURLE_OUT_OF_MEMORY: "out_of_memory"
        default: "libcurl_\(code.rawValue)"
        }
    }
}
