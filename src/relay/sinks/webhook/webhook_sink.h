// WebhookSink: POSTs each message's payload to a URL, and confirms it once the answer is 2xx.
//
// Status 400 to 499 refuses the message, except 408, 425 and 429. After these three, after a
// redirect and after 500 to 599 the message is tried again, not before Retry-After. If a request
// ends without an answer after it has begun to go out, the answer is `unknown`. If it has not begun
// to go out, the receiver is `down`, for all waiting messages too.
//
// Only http and https, no redirects, no proxies. Each address of a name is checked when the socket
// is about to connect to it (allow_list.h), so that no second look-up of the name can give another
// address after the check.
//
// It works on one thread of its own. Connections are kept and used again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "relay/sink.h"
#include "relay/sinks/webhook/webhook_request.h"

namespace tarry::relay {

class WebhookSink final : public Sink {
 public:
  /// Error: `invalid_argument`, which names the value and the limit. A URL whose host is known not
  /// to be permitted is such an error too.
  [[nodiscard]] static Result<std::unique_ptr<Sink>> make(WebhookOptions options);

  ~WebhookSink() override;
  void send(std::vector<Outgoing> batch) override;
  void close() override;
  [[nodiscard]] std::string title() const override;

 private:
  class Impl;
  explicit WebhookSink(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
