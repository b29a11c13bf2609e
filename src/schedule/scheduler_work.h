// One turn of the scheduler: the timers of one claim, and what becomes of each.
//
// Used by the scheduler's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <tarry/queue.h>

#include "base/threads/boot_clock.h"
#include "schedule/names.h"
#include "schedule/scheduler.h"
#include "schedule/turn.h"

namespace tarry::schedule {

/// A process that is killed within a turn delays the turn's occurrences by this.
inline constexpr std::int64_t kTurnLease = 10'000;  // ms

struct Scheduler::Work {
  enum class End : std::uint8_t {
    ack,
    wait,   // the timer was too early; it comes again after `delay`
    retry,  // the turn failed
    bury,
  };

  const Delivery* delivery = nullptr;
  Timer timer;
  const Known* known = nullptr;  // null: there is no such schedule, or the turn has failed
  Turn turn;
  End end = End::ack;
  Millis delay{0};
  std::string reason = {};  // of a retry or a bury

  void fail(End how, std::string why) {
    end = how;
    reason = std::move(why);
    known = nullptr;
  }
};

}  // namespace tarry::schedule
