// Countdown: one call after several things have ended.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstddef>
#include <utility>

#include "base/unique_function.h"

namespace tarry::redis {

/// Calls `done` after as many `end`s as `begin`s; the constructor counts as a `begin`.
class Countdown {
 public:
  explicit Countdown(base::UniqueFunction<void()> done) : done_(std::move(done)) {}
  void begin() noexcept { ++left_; }
  void end() {
    if (--left_ == 0) done_();
  }

 private:
  base::UniqueFunction<void()> done_;
  std::size_t left_ = 1;
};

}  // namespace tarry::redis
