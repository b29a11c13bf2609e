// ClockEras: how far REALTIME stood from BOOTTIME at different times of this boot. Within an era
// the two clocks run together, to within kSameMs. When the wall clock is set, another era begins.
//
// A relative delay must really pass, even if the wall clock jumps forward meanwhile. So a message
// with a relative delay remembers the era in which the delay was counted (8 bits). If it falls due
// by REALTIME in another era, it is held until its BOOTTIME has come too.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariant: an era keeps its offset while it is current, or while a message holds it. Era 0 is
// none: such a message is due by REALTIME alone. If 255 eras are in use, messages get era 0. They
// are still never early by the store's own clock, which is the guarantee.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>

#include "timing/clock.h"

namespace tarry::embedded {

class ClockEras {
 public:
  /// A difference larger than this is reported and counted as a step.
  static constexpr std::int64_t kStepMs = 1000;
  /// A difference up to this may come from reading two clocks, and begins no era.
  static constexpr std::int64_t kSameMs = 20;

  /// Call `observe` with the present time. True if the wall clock has stepped; `last_step_ms` is
  /// the size of the step.
  bool observe(timing::Instant now) noexcept {
    const std::int64_t offset = now.realtime_ms - now.boottime_ms;
    if (!observed_ || std::llabs(offset - current_offset_) > kSameMs) {
      current_ = find_or_add(offset, kSameMs);
      current_offset_ = current_ != 0 ? offset_[current_] : offset;
    }
    const bool stepped = observed_ && std::llabs(offset - told_offset_) > kStepMs;
    if (stepped) last_step_ms_ = offset - told_offset_;
    if (stepped || !observed_) told_offset_ = offset;
    observed_ = true;
    return stepped;
  }

  /// The era of a message with these two due times. The message holds the era until `leave`.
  std::uint8_t join(std::int64_t due_ms, std::int64_t boot_due_ms) noexcept {
    const std::uint8_t era = find_or_add(due_ms - boot_due_ms, 0);
    ++users_[era];
    return era;
  }
  /// Call `leave` when a message of `era` gets another due time or is gone. Does nothing for era
  /// 0.
  void leave(std::uint8_t era) noexcept {
    if (era != 0) --users_[era];
  }

  [[nodiscard]] std::uint8_t current() const noexcept { return current_; }
  [[nodiscard]] std::int64_t boot_due_ms(std::uint8_t era, std::int64_t due_ms) const noexcept {
    return due_ms - offset_[era];
  }
  [[nodiscard]] std::int64_t last_step_ms() const noexcept { return last_step_ms_; }

 private:
  std::uint8_t find_or_add(std::int64_t offset, std::int64_t tolerance) noexcept {
    for (std::uint32_t era = 1; era <= count_; ++era) {
      if (std::llabs(offset - offset_[era]) <= tolerance) return static_cast<std::uint8_t>(era);
    }
    std::uint32_t era = 1;
    if (count_ < 255) {
      era = ++count_;
    } else {
      while (era <= 255 && (users_[era] != 0 || era == current_)) ++era;
      if (era > 255) return 0;
    }
    offset_[era] = offset;
    return static_cast<std::uint8_t>(era);
  }

  std::array<std::int64_t, 256> offset_{};
  std::array<std::uint32_t, 256> users_{};  // how many messages hold each era
  std::uint32_t count_ = 0;
  std::uint8_t current_ = 0;
  bool observed_ = false;
  std::int64_t current_offset_ = 0;  // of the current era
  std::int64_t told_offset_ = 0;     // at the last step, or the first observation
  std::int64_t last_step_ms_ = 0;
};

}  // namespace tarry::embedded
