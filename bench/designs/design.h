// Design: a delay queue, with the verbs that the figures compare: a message is pushed with a due
// time, claimed when it is due, and settled. tarry and its rivals (FIGURES.md) implement it, so
// that the same code drives all of them.
//
// Thread safety: all of it, unless the design says otherwise. Each call returns when its changes
// are as durable as the design was opened for. A failure ends the program: a figure of a design
// that does not work means nothing.
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

/// The messages of one claim. The design that made it takes it back to settle it.
class Claimed {
 public:
  virtual ~Claimed() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// The sum of the payloads' sizes and of their first and last bytes, which proves that the
  /// payloads were handed over.
  [[nodiscard]] virtual std::uint64_t proof() const = 0;
  /// Only in designs that the comparison drives (compared.h); the others have only the proof.
  [[nodiscard]] virtual std::string_view payload(std::size_t /*index*/) const { return {}; }
};

/// The part of one payload in `Claimed::proof`.
[[nodiscard]] constexpr std::uint64_t proof_of(std::string_view payload) noexcept {
  if (payload.empty()) return 0;
  return payload.size() + static_cast<unsigned char>(payload.front()) +
         static_cast<unsigned char>(payload.back());
}

class Design {
 public:
  virtual ~Design() = default;
  virtual void push(std::span<const Message> batch) = 0;
  /// Up to `max` messages that are due now; empty if none is due.
  [[nodiscard]] virtual std::unique_ptr<Claimed> claim(std::size_t max) = 0;
  virtual void settle(const Claimed& claimed) = 0;
};

/// Whether each call waits for the disk.
enum class Sync : std::uint8_t { always, none };

}  // namespace tarry::bench
