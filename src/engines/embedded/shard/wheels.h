// Wheels: what time does: messages fall due, leases run out, the dead and the remembered are
// forgotten, the wall clock steps.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>

#include "engines/embedded/shard/shard_context.h"
#include "timing/clock.h"

namespace tarry::embedded {

class Wheels {
 public:
  explicit Wheels(ShardContext& shard) : shard_(shard) {}

  /// Before the turn's time is `now`: sees whether the wall clock has stepped.
  void observe(timing::Instant now);
  /// A lease that outlived its boot has begun anew: writes that down.
  void record_renewed_leases();
  /// Up to the turn's time, at most a slice.
  void run();
  [[nodiscard]] std::uint64_t clock_steps() const noexcept { return clock_steps_; }

 private:
  void due_expired(Handle handle);
  void lease_expired(Handle handle);
  /// The lease has run out, and no cancel has stopped the message.
  void give_back(Handle handle);
  [[nodiscard]] bool take_room();

  ShardContext& shard_;
  std::uint64_t clock_steps_ = 0;
};

}  // namespace tarry::embedded
