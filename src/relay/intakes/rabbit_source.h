// RabbitSource: one connection to a RabbitMQ broker that consumes a queue. It reports arrived
// messages and acks them. Messages that the store cannot take it sets aside in another queue.
//
// Thread safety: none. `open`, `ack` and `set_aside` may block for as long as the address's
// time-outs; `next` never.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <tarry/result.h>

#include "net/rabbit/address.h"
#include "relay/intakes/arrival.h"

namespace tarry::relay {

struct RabbitSourceOptions : net::RabbitAddress {
  std::string queue;  // the queue to consume
  // If not empty: declared like the queue, and the queue is bound to it.
  std::string exchange;
  std::string refused;             // the queue for messages that the store cannot take; made if
                                   // missing
  std::uint16_t prefetch = 1'000;  // 1 .. 65,535 messages not acked at once
  // For a message without x-delay; otherwise its expiration is kept for the publication.
  bool expiration_is_delay = false;
  bool key_is_message_id = true;  // otherwise the store makes each key
};

class RabbitSource {
 public:
  struct SetAside {  // the broker has confirmed that the message is in the queue `refused`
    std::uint64_t tag = 0;
  };
  struct NotSetAside {  // it may be tried again
    std::uint64_t tag = 0;
    std::string why;
  };
  struct Ended {  // no more messages will arrive; those that have arrived can still be acked
    std::string why;
  };
  using Event = std::variant<Arrival, SetAside, NotSetAside, Ended>;

  /// Declares the queues, and begins to consume. Errors: `permission_denied`, `not_found` (no such
  /// queue) or `conflict` (it exists with other arguments) if the broker said so, otherwise
  /// `unavailable`.
  [[nodiscard]] static Result<std::unique_ptr<RabbitSource>> open(
      const RabbitSourceOptions& options);
  ~RabbitSource();
  RabbitSource(const RabbitSource&) = delete;
  RabbitSource& operator=(const RabbitSource&) = delete;

  /// The next event; empty if there is none now. If this or any function below fails, the
  /// connection is dead. Call it at least once a second, for the heartbeats.
  [[nodiscard]] Result<std::optional<Event>> next();
  /// Acks the message with this tag and, if `multiple`, all before it.
  [[nodiscard]] Result<void> ack(std::uint64_t tag, bool multiple);
  /// Publishes the message to the queue for refused messages. The result comes as an event. After a
  /// SetAside the message may be acked. After a NotSetAside it may not: the queue is full, or is
  /// gone and cannot be made again.
  [[nodiscard]] Result<void> set_aside(const Arrival& arrival, std::string_view reason);
  /// Returns once the broker has received the acks, or after 5 s. Call no other function after it.
  void close();
  /// A descriptor that is readable when something has arrived.
  [[nodiscard]] int socket() const;

 private:
  class Impl;
  explicit RabbitSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
