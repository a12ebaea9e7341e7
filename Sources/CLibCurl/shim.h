#include <curl/curl.h>

// Variadic functions, which Swift does not import: one inline wrapper for each type of argument.

typedef size_t (*curl_data_function)(char *buffer, size_t size, size_t count, void *context);
typedef int (*curl_seek_function)(void *context, curl_off_t offset, int origin);

static inline CURLcode curl_setopt_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_setopt_off(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_setopt_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_setopt_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_setopt_data(CURL *easy, CURLoption option, curl_data_function value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_setopt_seek(CURL *easy, CURLoption option, curl_seek_function value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_setopt_prerequest(CURL *easy, CURLoption option, curl_prereq_callback value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_setopt_opensocket(CURL *easy, CURLoption option, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode curl_getinfo_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode curl_getinfo_off(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode curl_getinfo_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode curl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
// The result sits in a union.
static inline CURLcode curl_message_result(const CURLMsg *message) { return message->data.result; }
