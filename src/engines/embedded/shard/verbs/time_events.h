// TimeEvents: the work that time causes: messages fall due, leases run out, dead and remembered
// messages expire, the wall clock steps.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>

#include "engines/embedded/shard/context/shard_context.h"
#include "timing/clock.h"

namespace tarry::embedded {

class TimeEvents {
 public:
  explicit TimeEvents(ShardContext& shard) : shard_(shard) {}

  /// Detects a step of the wall clock. Call it before the turn's time becomes `now`.
  void observe(timing::Instant now);
  /// Records that leases which outlived their boot have started again.
  void record_renewed_leases();
  /// Moves both wheels on to the turn's time, or by one slice if that is less.
  void run();
  [[nodiscard]] std::uint64_t clock_steps() const noexcept { return clock_steps_; }

 private:
  void due_expired(Handle handle);
  void lease_expired(Handle handle);
  /// The lease has run out: the message becomes due again, or dead after its last attempt.
  void give_back(Handle handle);
  [[nodiscard]] bool take_room();

  ShardContext& shard_;
  std::uint64_t clock_steps_ = 0;
};

}  // namespace tarry::embedded
