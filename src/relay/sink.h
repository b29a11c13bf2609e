// Sink: where a relay sends messages. One message is one Outgoing; its answer says what became of
// it there, and only `confirmed` lets the relay ack.
//
// Thread safety: `send` from one thread, `close` from any; answers come from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tarry/queue.h>
#include <tarry/time.h>

#include "base/unique_function.h"
#include "relay/lease_end.h"

namespace tarry::relay {

enum class Fate : std::uint8_t {
  confirmed,  // the sink has it, by its own promise
  refused,    // and would refuse it again: to the dead, with the reason
  again,      // it failed; another attempt may fare better
  not_yet,    // as `again`, for this message alone: the sink works, and takes others
  down,       // the sink takes nothing now: this message is not at fault, and was not sent
  unknown,    // sent, result unknown: another attempt, which may be a duplicate
  late,       // not sent: its lease ended before its turn came; the sink is not at fault
};

[[nodiscard]] constexpr std::string_view to_string(Fate fate) noexcept {
  switch (fate) {
    case Fate::confirmed: return "confirmed";
    case Fate::refused: return "refused";
    case Fate::again: return "again";
    case Fate::not_yet: return "not yet";
    case Fate::down: return "down";
    case Fate::unknown: return "unknown";
    case Fate::late: return "late";
  }
  return "unknown";
}

struct Answer {
  Fate fate = Fate::confirmed;
  std::string reason = {};           // one line; empty where confirmed
  std::optional<Millis> after = {};  // again, not_yet: not before; default: the queue's backoff
};

[[nodiscard]] inline Answer confirmed() { return {}; }
[[nodiscard]] inline Answer refused(std::string reason) {
  return {Fate::refused, std::move(reason), {}};
}
[[nodiscard]] inline Answer try_again(std::string reason, std::optional<Millis> after = {}) {
  return {Fate::again, std::move(reason), after};
}
[[nodiscard]] inline Answer not_yet(std::string reason, std::optional<Millis> after = {}) {
  return {Fate::not_yet, std::move(reason), after};
}
[[nodiscard]] inline Answer sink_down(std::string reason) {
  return {Fate::down, std::move(reason), {}};
}
[[nodiscard]] inline Answer unknown(std::string reason) {
  return {Fate::unknown, std::move(reason), {}};
}
[[nodiscard]] inline Answer too_late() {
  return {Fate::late, "its lease ended before the sink's turn came to it", {}};
}

struct Outgoing {
  Delivery delivery;
  base::UniqueFunction<void(Answer)> done;     // exactly once; within `send` is allowed
  std::shared_ptr<const LeaseEnd> lease = {};  // null: it never ends

  /// Check it just before sending: if true, the message is answered `late` instead.
  [[nodiscard]] bool is_late() const noexcept { return lease && lease->is_over(moment_now()); }
};

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  /// Sends in this order, if the sink keeps one. Returns without waiting for the sink, unless the
  /// sink answers at once. Every message is answered within a bound that the sink sets. No message
  /// begins to go out once its lease has ended.
  virtual void send(std::vector<Outgoing> batch) = 0;

  /// Soon answers everything that is still open: `down` for messages not sent, `unknown` for sent
  /// ones. `send` answers `down` from then on. Idempotent.
  virtual void close() = 0;

  /// As `close`, without waiting any more: everything that a close asks to end is ended.
  /// Idempotent.
  virtual void abandon() { close(); }

  /// For messages; without secrets.
  [[nodiscard]] virtual std::string title() const = 0;
};

}  // namespace tarry::relay
