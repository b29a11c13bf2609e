// ManualClock: a clock that stands still until a caller moves it. For tests, `memory:?clock=manual`
// and `tarry serve --test-clock`.
//
// Thread safety: every function may be called from any thread, even from a listener.
//
// Invariants
//  1. Listeners run on the thread that moved the clock, after the move, and without a lock of the
//     clock.
//  2. After unsubscribe has returned, the listener is not running and never runs again. If a
//     listener unsubscribes itself, it is still running then, but never runs again.
//  3. Both values of a reading come from the same move.
//  4. Within one boot boottime never goes back.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/unique_function.h"
#include "timing/clock.h"

namespace tarry::timing {

class ManualClock final : public Clock {
 public:
  using Listener = base::UniqueFunction<void()>;
  using Token = std::uint64_t;

  /// 2026-01-01T00:00:00Z, one hour after boot: an ordinary time, so that no test passes only
  /// because the clock reads 0.
  static constexpr Instant kStart{1'767'225'600'000, 3'600'000};

  explicit ManualClock(Instant start = kStart, std::uint64_t boot_id = 1);

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] std::uint64_t boot_id() const override;
  [[nodiscard]] std::int64_t rounding_ms() const override { return 0; }

  /// Sets both clocks to these values. Aborts if boottime would go back.
  void set(Instant instant);
  /// Moves both clocks forward by delta_ms >= 0.
  void advance(std::int64_t delta_ms);
  /// Moves only realtime, forward or back, as NTP or an operator does.
  void step_realtime(std::int64_t delta_ms);
  /// Acts as if the machine had slept for delta_ms >= 0: both clocks move, and no code has run
  /// meanwhile.
  void suspend(std::int64_t delta_ms);
  /// Acts as if the machine had restarted: the boot id is new, boottime starts again at
  /// `boottime_ms`, and realtime stays.
  void new_boot(std::uint64_t boot_id, std::int64_t boottime_ms = 0);

  /// `listener` is called after every move, by several threads at once if several move the clock.
  [[nodiscard]] Token subscribe(Listener listener);
  /// Waits until calls of that listener on other threads have ended. An unknown token is ignored.
  void unsubscribe(Token token);

 private:
  struct Subscription {
    Listener listener;
    std::vector<std::thread::id> running;  // one entry per call in progress
    bool ended = false;
  };

  void notify();

  mutable std::mutex time_mutex_;
  Instant now_;
  std::uint64_t boot_id_;

  std::mutex listeners_mutex_;
  std::condition_variable call_ended_;
  std::map<Token, std::shared_ptr<Subscription>> subscriptions_;
  Token next_token_ = 1;
};

}  // namespace tarry::timing
