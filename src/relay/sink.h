// Sink: where a relay sends messages. Each message is one Outgoing. Its Answer says what happened
// to it at the receiver; the relay acks only after `confirmed`.
//
// Thread safety: `send` is called from one thread, `close` from any thread. Answers come from any
// thread.
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
  confirmed,  // the sink has it, as safely as that sink promises
  refused,    // the sink would refuse it every time: it becomes dead, with the reason
  again,      // the message failed; another attempt may succeed
  not_yet,    // like `again`, but only this message failed: the sink works, and takes others
  down,       // not sent, because the sink takes nothing now; the message is not at fault
  unknown,    // sent, but the result is unknown: another attempt follows, which may be a duplicate
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
  std::string reason = {};           // one line; empty if confirmed
  std::optional<Millis> after = {};  // again, not_yet: the delay; default: the queue's backoff
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
  base::UniqueFunction<void(Answer)> done;     // called exactly once, perhaps within `send`
  std::shared_ptr<const LeaseEnd> lease = {};  // null: the lease never ends

  /// Check it just before sending: if true, answer `late` instead of sending.
  [[nodiscard]] bool is_late() const noexcept { return lease && lease->is_over(moment_now()); }
};

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  /// Sends the messages, in this order if the sink keeps an order. Does not wait for the receiver,
  /// unless the receiver answers at once. Every message is answered within a time that the sink
  /// guarantees. A message whose lease has ended is not sent.
  virtual void send(std::vector<Outgoing> batch) = 0;

  /// Soon answers every message that has no answer yet: `down` if it was not sent, `unknown` if it
  /// was. From then on `send` answers `down`. Idempotent.
  virtual void close() = 0;

  /// The same as `close`, but by force: it ends operations that `close` only asks to end.
  /// Idempotent.
  virtual void abandon() { close(); }

  /// The sink's name for logs and errors, without secrets.
  [[nodiscard]] virtual std::string title() const = 0;
};

}  // namespace tarry::relay
