// RabbitSource: one connection to a RabbitMQ broker that consumes a queue: says what arrives, acks
// it, and sets aside in another queue what cannot be taken.
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
  std::string queue;                 // to be consumed
  std::string exchange;              // not empty: declared, as the queue is, and bound to it
  std::string refused;               // a queue, made where it is not: for what cannot be taken
  std::uint16_t prefetch = 1'000;    // 1 .. 65,535 messages not acked at once
  bool expiration_is_delay = false;  // of a message without x-delay; else it is kept for the end
  bool key_is_message_id = true;     // else the store makes each key
};

class RabbitSource {
 public:
  struct SetAside {  // the broker has confirmed that it is in the queue for that
    std::uint64_t tag = 0;
  };
  struct NotSetAside {  // it may be tried again
    std::uint64_t tag = 0;
    std::string why;
  };
  struct Ended {  // nothing arrives any more; what has can be acked
    std::string why;
  };
  using Event = std::variant<Arrival, SetAside, NotSetAside, Ended>;

  /// Declares what is to be there, and consumes. Errors: `unavailable`; and where the broker said
  /// so `permission_denied`, `not_found` (no such queue) and `conflict` (it is there, but other).
  [[nodiscard]] static Result<std::unique_ptr<RabbitSource>> open(
      const RabbitSourceOptions& options);
  ~RabbitSource();
  RabbitSource(const RabbitSource&) = delete;
  RabbitSource& operator=(const RabbitSource&) = delete;

  /// What has come, one by one; empty: no more for now. After an error, here and below, the
  /// connection is dead. To be called every second at least, for the heartbeats.
  [[nodiscard]] Result<std::optional<Event>> next();
  /// That one, or with `multiple` all up to it.
  [[nodiscard]] Result<void> ack(std::uint64_t tag, bool multiple);
  /// It is answered by a SetAside, and only then it may be acked; or by a NotSetAside: the queue
  /// for it is full, or gone and cannot be made again.
  [[nodiscard]] Result<void> set_aside(const Arrival& arrival, std::string_view reason);
  /// Once the broker has seen what was acked, or 5 s have passed. Nothing is asked afterwards.
  void close();
  /// Readable when something has come.
  [[nodiscard]] int socket() const;

 private:
  class Impl;
  explicit RabbitSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
