// Sleeper: how a shard's thread waits: until it is woken, or until one of two deadlines, one second
// at most. The real sleeper uses timers of the kernel, which notice when the wall clock is set. The
// manual sleeper is woken by its clock.
//
// Thread safety: any thread may call `wake`; only the sleeping thread calls `sleep`. A wake is
// never lost: a wake before `sleep` ends the next `sleep` at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <tarry/result.h>

#include "timing/clock.h"

namespace tarry::embedded {

class Sleeper {
 public:
  virtual ~Sleeper() = default;
  virtual void wake() noexcept = 0;
  /// The deadlines by REALTIME and by BOOTTIME, in milliseconds. Empty: that clock wakes nobody.
  virtual void sleep(std::optional<std::int64_t> until_realtime_ms,
                     std::optional<std::int64_t> until_boottime_ms) = 0;
};

/// Makes a sleeper for `clock` if it is a timing::ManualClock, otherwise for the machine's clock.
/// Errors: `unavailable` if the machine gives no descriptor for it.
[[nodiscard]] Result<std::unique_ptr<Sleeper>> make_sleeper(
    const std::shared_ptr<const timing::Clock>& clock);

}  // namespace tarry::embedded
