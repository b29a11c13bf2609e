// Piped: a delay queue in a server that gets batch after batch, without waiting for the previous
// answer. tarry and its rivals in Redis implement it, so that the same code drives all of them,
// with equally many batches under way.
//
// Thread safety: none. Within `run`, calls and their answers are all on one thread; outside `run`
// no verb may be called. A failure ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "designs/design.h"

namespace tarry::bench {

class Piped {
 public:
  using Done = std::function<void()>;
  /// The answer to a push: the positions in the batch of the messages that were refused because
  /// their key was taken, in ascending order. All others were pushed.
  using Told = std::function<void(std::span<const std::uint32_t> taken)>;
  using Got = std::function<void(std::shared_ptr<const Claimed>)>;

  virtual ~Piped() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// `batch` and the bytes that it refers to are not used after the call. `done` runs when the
  /// server has answered: after the call, or within it if there is nothing to send. A design that
  /// does not look whether keys are taken says of none that it was.
  virtual void push(std::span<const Message> batch, Told done) = 0;
  /// Up to `max` messages that are due now; empty if none is due.
  virtual void claim(std::size_t max, Got done) = 0;
  virtual void settle(const Claimed& claimed, Done done) = 0;

  /// Runs `begin`, which calls verbs. Returns when these calls are answered, and also all calls
  /// that their callbacks have made.
  virtual void run(Done begin) = 0;
};

}  // namespace tarry::bench
