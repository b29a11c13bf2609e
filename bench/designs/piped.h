// Piped: a delay queue behind a server, asked for batch after batch without waiting for the answer
// to the one before. tarry and its rivals in Redis stand behind it, so that all are driven by the
// same code, with as many batches under way.
//
// Thread safety: none. Within `run`, calls and what they are answered with are all on one thread;
// outside it nothing is asked. A failure ends the program.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "designs/design.h"

namespace tarry::bench {

class Piped {
 public:
  using Done = std::function<void()>;
  using Got = std::function<void(std::shared_ptr<const Claimed>)>;

  virtual ~Piped() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// `batch` and what it names are not looked at after it returns. `done` runs when the server has
  /// answered: after the call, or within it where there is nothing to ask.
  virtual void push(std::span<const Message> batch, Done done) = 0;
  /// Up to `max` messages that are due now; none if there are none.
  virtual void claim(std::size_t max, Got done) = 0;
  virtual void settle(const Claimed& claimed, Done done) = 0;

  /// Runs `begin`, which asks, and returns when all is answered, what the answers asked included.
  virtual void run(Done begin) = 0;
};

}  // namespace tarry::bench
