// RabbitSink: publishes each message to an exchange of a RabbitMQ broker, persistent and mandatory,
// and confirms it once the broker's publisher confirm for it has come.
//
// The properties hold message-id (the id) and the headers tarry-queue, tarry-key, tarry-attempt and
// tarry-due-ms, besides the message's own; the body is the payload. A message that came through an
// intake gets its original properties again (properties.h). With a header CC or BCC, RabbitMQ would
// also route the message elsewhere; such a message is refused unless that is allowed.
//
// A message that the broker returns as unroutable or refuses (nack) is tried again. If a connection
// or channel ends before the broker has confirmed a published message, the answer is `unknown`,
// unless the broker names the message's exchange as the reason. The sink is down if the broker
// cannot be reached, blocks publishers, or does not have the exchange of the options. If a
// message's header names an exchange that is missing, only that message fails. The sink connects
// when there is something to publish; the relay's breaker limits how often.
//
// It has one connection, and works on a thread of its own.
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
