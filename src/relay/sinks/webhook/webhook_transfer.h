// WebhookTransfer: one request of a webhook sink, carried out by libcurl, and its result.
//
// Not thread safe. The object must not move while libcurl has its handle.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "net/tls/tls_foreign.h"
#include "relay/sink.h"
#include "relay/sinks/webhook/webhook_request.h"
#include "relay/sinks/webhook/webhook_target.h"

namespace tarry::relay {

struct CurlEasyFree {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
};
struct CurlMultiFree {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
struct CurlListFree {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

class WebhookTransfer {
 public:
  /// `url` and `lines` belong to this message. Options and target must outlive the transfer.
  WebhookTransfer(const WebhookOptions& options, const WebhookTarget& target, Outgoing outgoing,
                  const std::string& url, const std::vector<std::string>& lines);
  WebhookTransfer(const WebhookTransfer&) = delete;
  WebhookTransfer& operator=(const WebhookTransfer&) = delete;

  [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
  /// The answer that libcurl's result means.
  [[nodiscard]] Answer outcome(CURLcode result) const;
  /// The answer for a request that the sink breaks off.
  [[nodiscard]] Answer broken_off(const std::string& why) const;
  void answer(Answer answer) { parcel_.done(std::move(answer)); }

 private:
  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static CURLcode watch_tls(CURL* handle, void* context, void* self);
  /// Whether the server has already refused the client's certificate.
  [[nodiscard]] bool was_refused() const;
  static int before_request(void* self, char* to, char* from, int to_port, int from_port);
  static std::size_t take_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t take_body(char* data, std::size_t size, std::size_t count, void* self);

  const WebhookOptions& options_;
  const WebhookTarget& target_;
  Outgoing parcel_;
  std::unique_ptr<CURL, CurlEasyFree> handle_;
  std::unique_ptr<curl_slist, CurlListFree> headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::shared_ptr<net::TlsWatch> tls_;  // null if the transfer made no TLS connection
  bool sent_ = false;                   // the request has begun to go out
  bool late_ = false;                   // the message's lease had ended before the request began
  bool answered_ = false;               // its answer's headers are complete
  // The sink broke the answer off, because its body was longer than the limit.
  bool cut_ = false;
  std::string forbidden_;  // the forbidden address to which the host name led
  std::size_t head_size_ = 0;
  std::size_t body_size_ = 0;
  std::string body_;  // the beginning of the answer's body
};

}  // namespace tarry::relay
