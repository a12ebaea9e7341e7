internal import CLibCurl
import Testing

@testable internal import HTTPTransport

struct CurlFailureTests {
    @Test(arguments: [
        (CURLE_COULDNT_RESOLVE_HOST, "name_not_resolved", "name_not_resolved"),
        (CURLE_URL_MALFORMAT, "invalid_url", "invalid_url"),
        (CURLE_UNSUPPORTED_PROTOCOL, "invalid_url", "invalid_url"),
        (CURLE_COULDNT_CONNECT, "connect_failed", "resend_refused"),
        (CURLE_OPERATION_TIMEDOUT, "connect_timed_out", "timed_out"),
        (CURLE_SSL_CONNECT_ERROR, "tls_failed", "tls_failed"),
        (CURLE_SSL_CIPHER, "tls_failed", "tls_failed"),
        (CURLE_PEER_FAILED_VERIFICATION, "certificate_refused", "certificate_refused"),
        (CURLE_SSL_CACERT_BADFILE, "ca_file_unusable", "ca_file_unusable"),
        (CURLE_SEND_FAIL_REWIND, "aborted", "resend_refused"),
        (CURLE_ABORTED_BY_CALLBACK, "aborted", "resend_refused"),
        (CURLE_SEND_ERROR, "connection_lost", "connection_lost"),
        (CURLE_RECV_ERROR, "connection_lost", "connection_lost"),
        (CURLE_GOT_NOTHING, "connection_lost", "connection_lost"),
        (CURLE_PARTIAL_FILE, "connection_lost", "connection_lost"),
        (CURLE_HTTP2, "http2_error", "http2_error"),
        (CURLE_HTTP2_STREAM, "stream_reset", "stream_reset"),
        (CURLE_OUT_OF_MEMORY, "out_of_memory", "out_of_memory"),
        (CURLE_FAILED_INIT, "libcurl_2", "libcurl_2"),
    ])
    func `the fate depends on the sending and the word on the code`(code: CURLcode, before: String, after: String) {
        #expect(HTTPFailure(code: code, wasSent: false) == HTTPFailure(fate: .notSent, reason: before))
        #expect(HTTPFailure(code: code, wasSent: true) == HTTPFailure(fate: .unknown, reason: after))
    }

    @Test func `every code has a word fit for a record`() {
        for number in UInt32(1)...UInt32(CURL_LAST.rawValue) {
            let failure = HTTPFailure(code: CURLcode(rawValue: number), wasSent: true)
            #expect(
                failure.reason.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
                })
        }
    }
}
