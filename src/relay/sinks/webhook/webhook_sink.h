// WebhookSink: POSTs each message's payload to a URL, and confirms it once the answer is 2xx.
//
// Answers of 400 to 499 refuse the message, except 408, 425 and 429. Those, redirects and 500 on
// are tried again, not before Retry-After. A request that ends without an answer is unknown once it
// has begun to go out. Before that the receiver is down, also for all waiting messages.
//
// Only http and https, no redirects, no proxies. Every address of a name is checked at the socket
// that is about to connect to it (public_address.h): there is no second look-up of the name in
// between.
//
// One thread of its own; connections are kept and used again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "relay/sink.h"
#include "relay/sinks/webhook/webhook_request.h"

namespace tarry::relay {

class WebhookSink final : public Sink {
 public:
  /// Errors: `invalid_argument`, naming value and limit; also for a URL whose host is a private
  /// address, if that is not allowed.
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
