// RabbitConnection: one connection to a RabbitMQ broker with channels in confirm mode. It
// publishes, and reports the broker's answers. rabbit_sink.h uses it.
//
// Thread safety: none. `publish` and `open` may block for as long as their time-outs; `next` never.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <tarry/result.h>

#include "net/rabbit/address.h"

namespace tarry::relay {

struct RabbitOptions : net::RabbitAddress {
  std::string exchange;  // empty: the default one, which routes to the queue named by the key
  std::string routing_key;
  std::string exchange_header;     // if not empty, a message's header of this name has precedence
  std::string routing_key_header;  // the same for the routing key
  bool allow_copies = false;       // a message's headers CC and BCC name further routing keys
  std::uint16_t channels = 1;      // 1 .. 64; order is kept within each
};

namespace rabbit {

class Properties;

/// The broker has the message `tag`, or all messages of that channel up to it. If `ack` is false,
/// it has refused them.
struct Confirm {
  std::uint16_t channel = 0;
  std::uint64_t tag = 0;
  bool multiple = false;
  bool ack = true;
};
/// A message that the broker could not route. Its confirmation still follows.
struct Returned {
  std::uint16_t channel = 0;
  std::string id;  // the message's id, from its properties
  std::string reason;
};
/// The broker closed a channel, and it has been opened again. Its unconfirmed messages will never
/// be confirmed. Its tags count from 1 again.
struct ChannelClosed {
  std::uint16_t channel = 0;
  bool not_found = false;  // the reason is a missing exchange
  std::string reason;
};
/// The broker blocks publishers, because it is short of memory or disk.
struct Blocked {
  std::string reason;
};
struct Unblocked {};

using Event = std::variant<Confirm, Returned, ChannelClosed, Blocked, Unblocked>;

}  // namespace rabbit

class RabbitConnection {
 public:
  /// Errors: `unavailable`, with the broker's own words if it sent some.
  [[nodiscard]] static Result<std::unique_ptr<RabbitConnection>> open(const RabbitOptions& options);
  ~RabbitConnection();
  RabbitConnection(const RabbitConnection&) = delete;
  RabbitConnection& operator=(const RabbitConnection&) = delete;

  /// Publishes a message as mandatory, and returns the tag that its confirmation will name. Errors:
  /// `invalid_argument` if the properties do not fit into one of the broker's frames: nothing was
  /// sent. After any other error the connection is dead, and the message may have been sent.
  [[nodiscard]] Result<std::uint64_t> publish(std::uint16_t channel, const std::string& exchange,
                                              const std::string& routing_key,
                                              const rabbit::Properties& properties,
                                              std::string_view body);
  /// While gathering is on, published messages are sent in full packets; switching it off sends the
  /// rest. Switch it on only if further messages follow at once.
  void gather(bool on);
  /// The next event; empty if there is none now. After an error the connection is dead. Call it at
  /// least once a second, for the heartbeats.
  [[nodiscard]] Result<std::optional<rabbit::Event>> next();
  /// A descriptor that is readable when something has arrived.
  [[nodiscard]] int socket() const;

 private:
  class Impl;
  explicit RabbitConnection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
