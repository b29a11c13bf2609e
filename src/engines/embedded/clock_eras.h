// ClockEras: how far REALTIME stood from BOOTTIME at different times of this boot. Within an era
// the two run together (to a second); a step of the wall clock begins another.
//
// A relative delay must really pass, also when the wall clock jumps forward meanwhile. So a message
// with a relative delay remembers the era it was counted in (8 bits), and when it falls due by
// REALTIME in another era, it is held until its BOOTTIME has come too.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariant: era 0 means "no such promise"; eras 1 to 255 keep their offset for the life of the
// process. When all are taken, later steps find no room and messages get era 0: still never early
// by the store's own clock, which is the guarantee.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>

#include "timing/clock.h"

namespace tarry::embedded {

class ClockEras {
 public:
  static constexpr std::int64_t kStepMs = 1000;

  /// Tells the time. True when the wall clock has stepped, by `last_step_ms`.
  bool observe(timing::Instant now) noexcept {
    const std::int64_t offset = now.realtime_ms - now.boottime_ms;
    const std::int64_t expected = current_ != 0 ? offset_[current_] : last_offset_;
    if (observed_ && std::llabs(offset - expected) <= kStepMs) return false;
    const bool first = !observed_;
    last_step_ms_ = first ? 0 : offset - last_offset_;
    observed_ = true;
    last_offset_ = offset;
    current_ = find_or_add(offset, kStepMs);
    return !first;
  }

  /// The era of a message whose two due times are recorded, after a restart within one boot.
  std::uint8_t era_for(std::int64_t due_ms, std::int64_t boot_due_ms) noexcept {
    return find_or_add(due_ms - boot_due_ms, 0);
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
    if (count_ == 255) return 0;
    offset_[++count_] = offset;
    return static_cast<std::uint8_t>(count_);
  }

  std::array<std::int64_t, 256> offset_{};
  std::uint32_t count_ = 0;
  std::uint8_t current_ = 0;
  bool observed_ = false;
  std::int64_t last_offset_ = 0;
  std::int64_t last_step_ms_ = 0;
};

}  // namespace tarry::embedded
