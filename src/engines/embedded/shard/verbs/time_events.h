// TimeEvents: the work that time causes: messages fall due, leases run out, messages expire, dead
// and remembered ones are deleted, the wall clock steps.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>

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
  /// Moves both wheels on to the turn's time, and lets messages expire; each by one slice, if that
  /// is less.
  void run();
  /// When the next message expires, by REALTIME; empty if none does.
  [[nodiscard]] std::optional<std::int64_t> next_expiry_ms() const noexcept;
  /// While a full disk has no room for an expiry: when it is tried again, by BOOTTIME.
  [[nodiscard]] std::optional<std::int64_t> expiry_again_at() const noexcept { return again_at_; }
  [[nodiscard]] std::uint64_t clock_steps() const noexcept { return clock_steps_; }

 private:
  void due_expired(Handle handle);
  void lease_expired(Handle handle);
  void end_expired();
  /// The lease has run out: the message becomes due again, or dead after its last attempt.
  void give_back(Handle handle);
  [[nodiscard]] bool take_room(Purpose purpose = Purpose::end);

  ShardContext& shard_;
  std::uint64_t clock_steps_ = 0;
  std::optional<std::int64_t> again_at_;
};

}  // namespace tarry::embedded
