// RabbitSink: publishes each message to an exchange of a RabbitMQ broker, persistent and mandatory,
// and confirms it once the broker's publisher confirm for it has come.
//
// The properties hold message-id (the id) and the headers tarry-queue, tarry-key, tarry-attempt and
// tarry-due-ms, besides the message's own; the body is the payload. What an intake has brought gets
// the properties back that it came with (rabbit/properties.h). One with a header CC or BCC, by
// which RabbitMQ would route it further, is refused unless that is allowed.
//
// What the broker returns as unroutable or refuses (nack) is tried again; what was published and
// not confirmed when a connection or channel ends is unknown, but for the exchange that the broker
// names as its reason. A broker that cannot be reached, blocks publishers, or does not have the
// exchange of the options is down; an exchange that a message's header names is that message's
// affair. It connects when there is something to publish: how often that is tried is the relay's
// breaker's business.
//
// One connection, on a thread of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "relay/sink.h"
#include "relay/sinks/rabbitmq/rabbit_connection.h"

namespace tarry::relay {

class RabbitSink final : public Sink {
 public:
  explicit RabbitSink(RabbitOptions options);
  ~RabbitSink() override;
  void send(std::vector<Outgoing> batch) override;
  void close() override;
  [[nodiscard]] std::string title() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
