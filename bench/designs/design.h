// Design: a delay queue, as far as the figures compare it: messages go in with a due time, come out
// when it has come, and are settled. tarry and its rivals (FIGURES.md) stand behind it, so that all
// are driven by the same code.
//
// Thread safety: all of it, unless the design says otherwise. Each call returns when what it did is
// as durable as the design was opened for. A failure ends the program: a figure of a design that
// does not work means nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::bench {

struct Message {
  std::string_view payload;
  std::int64_t due_ms = 0;    // UTC
  std::string_view key = {};  // empty: none; designs other than tarry know no keys
};

/// What one claim took; given back to the design that made it, to be settled.
class Claimed {
 public:
  virtual ~Claimed() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// The sum of the payloads' first and last bytes and sizes: proof that they were handed over.
  [[nodiscard]] virtual std::uint64_t proof() const = 0;
  /// Of those that the comparison drives (compared.h); the rest keep the proof alone.
  [[nodiscard]] virtual std::string_view payload(std::size_t /*index*/) const { return {}; }
};

/// What `Claimed::proof` adds up.
[[nodiscard]] constexpr std::uint64_t proof_of(std::string_view payload) noexcept {
  if (payload.empty()) return 0;
  return payload.size() + static_cast<unsigned char>(payload.front()) +
         static_cast<unsigned char>(payload.back());
}

class Design {
 public:
  virtual ~Design() = default;
  virtual void push(std::span<const Message> batch) = 0;
  /// Up to `max` messages that are due now; none if there are none.
  [[nodiscard]] virtual std::unique_ptr<Claimed> claim(std::size_t max) = 0;
  virtual void settle(const Claimed& claimed) = 0;
};

/// Whether each call waits for the disk.
enum class Sync : std::uint8_t { always, none };

}  // namespace tarry::bench
