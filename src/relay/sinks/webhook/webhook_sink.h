// WebhookSink: POSTs each message's payload to a URL, and confirms it once the answer is 2xx.
//
// Answers of 400 to 499 refuse the message, but 408, 425 and 429; those, redirects and 500 on are
// tried again, not before Retry-After. What ends without an answer is unknown once the request has
// begun to go out; before that the receiver is down, and so is it for whatever waits behind.
//
// Only http and https, no redirects, no proxies. Every address that a name leads to is checked at
// the socket that is about to connect to it (public_address.h): there is no second look at the name
// in between.
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
  /// Errors: `invalid_argument`, naming value and limit; also for a URL whose host is an address
  /// that is not public, where that is not allowed.
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
