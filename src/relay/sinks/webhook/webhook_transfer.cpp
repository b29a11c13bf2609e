#include "relay/sinks/webhook/webhook_transfer.h"

#include <sys/socket.h>

#include <new>

#include "base/assert.h"
#include "base/text/text.h"
#include "net/tls/tls_foreign.h"
#include "relay/sinks/webhook/public_address.h"
#include "relay/sinks/webhook/webhook_answer.h"

namespace tarry::relay {
namespace {

constexpr std::size_t kMaxAnswerHead = 64 * 1024;
/// How many bytes of an answer's body are read. Only if an answer is read to its end can its
/// connection be used again.
constexpr std::size_t kMaxAnswerBody = 64 * 1024;
constexpr std::size_t kKeptOfAnswer = 200;  // bytes of the body

template <typename Value>
void set(CURL* handle, CURLoption option, Value value) {
  // This fails only if memory runs out, or if this build uses options that its libcurl does not
  // have.
  const CURLcode set = curl_easy_setopt(handle, option, value);
  if (set == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  TARRY_ASSERT(set == CURLE_OK);
}

long milliseconds(Millis time) { return static_cast<long>(time.count()); }

void set_tls(CURL* handle, const WebhookOptions& options) {
  set(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (options.ca_file.empty() && options.certificate_file.empty()) return;
  // A session that is resumed would keep what the files were.
  set(handle, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  if (!options.ca_file.empty()) {
    set(handle, CURLOPT_CAINFO, options.ca_file.c_str());
    set(handle, CURLOPT_CA_CACHE_TIMEOUT, 0L);  // otherwise a replaced file is read after a day
  }
  if (options.certificate_file.empty()) return;
  set(handle, CURLOPT_SSLCERT, options.certificate_file.c_str());
  set(handle, CURLOPT_SSLKEY, options.key_file.c_str());
}

/// To libcurl, a line without a value means that the header must be left out; a header with an
/// empty value needs a semicolon.
std::string line_for_curl(const std::string& line) {
  const std::size_t colon = line.find(':');
  const bool empty = line.find_first_not_of(" \t", colon + 1) == std::string::npos;
  return empty ? line.substr(0, colon) + ";" : line;
}

}  // namespace

WebhookTransfer::WebhookTransfer(const WebhookOptions& options, const WebhookTarget& target,
                                 Outgoing outgoing, const std::string& url,
                                 const std::vector<std::string>& lines)
    : options_(options), target_(target), parcel_(std::move(outgoing)), handle_(curl_easy_init()) {
  if (!handle_) throw std::bad_alloc();
  const auto add = [this](const std::string& line) {
    curl_slist* longer = curl_slist_append(headers_.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(headers_.release());
    headers_.reset(longer);
  };
  for (const std::string& line : lines) add(line_for_curl(line));
  add("Expect:");  // does not wait for an answer 100
  add("Accept:");
  CURL* handle = handle_.get();
  const std::string_view body = parcel_.delivery.payload();
  set(handle, CURLOPT_URL, url.c_str());
  set(handle, CURLOPT_PATH_AS_IS, 1L);
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(handle, CURLOPT_PROXY, "");  // no proxy, even if the environment names one
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  set(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(handle, CURLOPT_USERAGENT, "tarry");
  set(handle, CURLOPT_POST, 1L);
  set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  set(handle, CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  set(handle, CURLOPT_HTTPHEADER, headers_.get());
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_QUICK_EXIT, 1L);  // a name server that hangs must not delay other requests
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options.connect_timeout));
  set(handle, CURLOPT_TIMEOUT_MS, milliseconds(options.timeout));
  set(handle, CURLOPT_ERRORBUFFER, error_.data());
  set(handle, CURLOPT_OPENSOCKETFUNCTION, &WebhookTransfer::open_socket);
  set(handle, CURLOPT_OPENSOCKETDATA, this);
  set(handle, CURLOPT_PREREQFUNCTION, &WebhookTransfer::before_request);
  set(handle, CURLOPT_PREREQDATA, this);
  set(handle, CURLOPT_HEADERFUNCTION, &WebhookTransfer::take_header);
  set(handle, CURLOPT_HEADERDATA, this);
  set(handle, CURLOPT_WRITEFUNCTION, &WebhookTransfer::take_body);
  set(handle, CURLOPT_WRITEDATA, this);
  set(handle, CURLOPT_PRIVATE, this);
  set_tls(handle, options);
  if (net::TlsWatch::knows(curl_version_info(CURLVERSION_NOW)->ssl_version)) {
    set(handle, CURLOPT_SSL_CTX_FUNCTION, &WebhookTransfer::watch_tls);
    set(handle, CURLOPT_SSL_CTX_DATA, this);
  }
}

CURLcode WebhookTransfer::watch_tls(CURL*, void* context, void* self) {
  static_cast<WebhookTransfer*>(self)->tls_ = net::TlsWatch::begin(context);
  return CURLE_OK;
}

curl_socket_t WebhookTransfer::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<WebhookTransfer*>(self);
  if (!transfer.target_.permitted && !transfer.options_.allow.permits(address->addr)) {
    transfer.forbidden_ = address_text(address->addr);
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool WebhookTransfer::was_refused() const {
  curl_tlssessioninfo* session = nullptr;
  if (!tls_ || curl_easy_getinfo(handle(), CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK)
    return false;
  if (session == nullptr || session->internals == nullptr) return false;
  net::TlsWatch::look(session->internals);
  return tls_->refusal(options_.certificate_file).has_value();
}

int WebhookTransfer::before_request(void* self, char*, char*, int, int) {
  auto& transfer = *static_cast<WebhookTransfer*>(self);
  // If a request is lost on a kept connection, libcurl would send it again: a duplicate with the
  // same attempt number.
  if (transfer.sent_) return CURL_PREREQFUNC_ABORT;
  // The lease is checked here again, because making the connection may have taken time.
  if (transfer.parcel_.is_late()) {
    transfer.late_ = true;
    return CURL_PREREQFUNC_ABORT;
  }
  if (transfer.was_refused()) return CURL_PREREQFUNC_ABORT;
  transfer.sent_ = true;
  return CURL_PREREQFUNC_OK;
}

std::size_t WebhookTransfer::take_header(char* data, std::size_t size, std::size_t count,
                                         void* self) {
  auto& transfer = *static_cast<WebhookTransfer*>(self);
  const std::size_t bytes = size * count;
  transfer.head_size_ += bytes;
  if (transfer.head_size_ > kMaxAnswerHead) return 0;
  if (std::string_view(data, bytes).find_first_not_of("\r\n") == std::string_view::npos) {
    long status = 0;
    curl_easy_getinfo(transfer.handle(), CURLINFO_RESPONSE_CODE, &status);
    transfer.answered_ = status >= 200;
  }
  return bytes;
}

std::size_t WebhookTransfer::take_body(char* data, std::size_t size, std::size_t count,
                                       void* self) {
  auto& transfer = *static_cast<WebhookTransfer*>(self);
  const std::size_t bytes = size * count;
  transfer.body_.append(data, std::min(bytes, kKeptOfAnswer - transfer.body_.size()));
  transfer.body_size_ += bytes;
  transfer.cut_ = transfer.body_size_ > kMaxAnswerBody;
  return transfer.cut_ ? 0 : bytes;
}

Answer WebhookTransfer::outcome(CURLcode result) const {
  if (late_) return too_late();
  long status = 0;
  curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
  // If a 2xx answer was cut off by the receiver, nobody knows how it would have ended.
  if (answered_ && (result == CURLE_OK || cut_ || status >= 300)) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(handle(), CURLINFO_RETRY_AFTER, &seconds);
    std::optional<Millis> after;
    // Limited before the unit is converted, which could overflow.
    if (seconds > 0) after = std::chrono::seconds(std::min<curl_off_t>(seconds, 1 << 30));
    return webhook_answer(status, body_, after);
  }
  if (!sent_ && !forbidden_.empty()) {
    return sink_down(options_.allow.refusal(target_.host, forbidden_));
  }
  // With TLS 1.3 the request may have been sent by then, but it has not been read.
  const auto refusal = tls_ ? tls_->refusal(options_.certificate_file) : std::nullopt;
  if (refusal && !answered_) return sink_down(*refusal);
  const std::string why = error_[0] != '\0' ? error_.data() : curl_easy_strerror(result);
  const std::string line = base::is_valid_utf8(why) ? why : base::quoted(why, 200);
  return broken_off(result == CURLE_ABORTED_BY_CALLBACK ? "the connection ended before an answer"
                    : answered_ ? "the answer " + std::to_string(status) + " was cut off: " + line
                                : line);
}

Answer WebhookTransfer::broken_off(const std::string& why) const {
  return sent_ ? unknown(why) : sink_down(why);
}

}  // namespace tarry::relay
