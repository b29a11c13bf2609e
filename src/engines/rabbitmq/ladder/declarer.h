// Declarer: makes exchanges, queues and bindings in a broker, one by one, on a channel of its own.
// If one exists, it must have the same arguments. A user without the right to configure can use
// exchanges and queues that somebody else has declared.
//
// Thread safety: none. Each call waits for the broker's answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tarry/result.h>

#include "net/rabbit/link.h"

namespace tarry::rabbitmq {

/// An argument of a queue.
struct Argument {
  std::string_view name;
  std::variant<std::int64_t, std::string> value;
};
using Arguments = std::vector<Argument>;

struct QueueCounts {
  std::uint64_t ready = 0;  // messages
  // Consumers. In a quorum queue each message that basic.get has taken counts as one, until its ack
  // has taken effect.
  std::uint64_t consumers = 0;
};

class Declarer {
 public:
  Declarer(net::rabbit::RabbitLink& link, std::uint16_t channel) : link_(link), channel_(channel) {}
  Declarer(const Declarer&) = delete;
  Declarer& operator=(const Declarer&) = delete;

  [[nodiscard]] Result<void> open() { return link_.open_channel(channel_, false); }

  // Errors name the exchange or queue: `permission_denied`, `conflict` if it exists with other
  // arguments, `unavailable`.
  /// A durable topic exchange.
  [[nodiscard]] Result<void> exchange(const std::string& name);
  /// A durable queue.
  [[nodiscard]] Result<void> queue(const std::string& name, const Arguments& arguments);
  [[nodiscard]] Result<void> bind_queue(const std::string& queue, std::string_view exchange,
                                        const std::string& pattern);
  [[nodiscard]] Result<void> bind_exchange(std::string_view target, std::string_view source,
                                           const std::string& pattern);

  /// Deletes everything that was made since the last `keep`, except queues with messages.
  void undo();
  void keep() noexcept { made_.clear(); }

  /// `not_found` if there is no such queue.
  [[nodiscard]] Result<QueueCounts> count(const std::string& queue);
  /// Removes all ready messages, and returns their number.
  [[nodiscard]] Result<std::uint64_t> purge(const std::string& queue);

 private:
  struct Made {
    bool is_queue = false;
    std::string name;
  };
  /// The answer to the last call. If the broker closed the channel, this opens it again.
  [[nodiscard]] Result<void> answered();
  [[nodiscard]] Result<bool> is_there(bool is_queue, const std::string& name);
  template <typename Ask>
  [[nodiscard]] Result<void> declare(bool is_queue, const std::string& name, Ask ask);
  [[nodiscard]] Result<void> bound(const Result<void>& answer, std::string_view target,
                                   std::string_view source);

  net::rabbit::RabbitLink& link_;
  const std::uint16_t channel_;
  std::vector<Made> made_;
};

}  // namespace tarry::rabbitmq
