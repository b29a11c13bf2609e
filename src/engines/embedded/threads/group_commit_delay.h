// GroupCommitDelay: how long a synced journal waits for the callers that it has just answered,
// before it syncs for other callers without them. Most callers that wait for an answer send their
// next request at once. Without a wait, eight callers would always sync in two groups of four: one
// group in the sync, the other waiting. Waiting pays only if the callers' next requests come sooner
// than a sync takes, and if their answers are given quickly. Otherwise the journal soon stops
// waiting, and tries again now and then.
//
// Its owner tells it all events. It reads no clock.
//
// Thread safety: none; owned by the thread that has the committer.
//
// Invariants
//  1. After each wait that was in vain or cost too much, it skips jobs: 1 the first time, then 2,
//     then 4, up to kMostSkips.
//  2. No wait is longer than `most`, whatever a sync took or a clock said.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace tarry::embedded {

class GroupCommitDelay {
 public:
  using Duration = std::chrono::nanoseconds;
  static constexpr unsigned kMostSkips = 64;

  /// If a sync takes longer than `most` (a hanging disk, a machine that slept, a clock moved by
  /// hand), there is no wait at all.
  explicit GroupCommitDelay(Duration most = std::chrono::milliseconds(20)) noexcept : most_(most) {}

  /// Call `synced` when a job is durable; that took `took`. Its `callers` are about to be answered,
  /// and `waiting` other callers have come already.
  void synced(std::size_t callers, std::size_t waiting, Duration took) noexcept {
    took_ = took;
    wanted_ = 0;
    if (callers == 0 || took > most_) return;
    if (skips_ > 0) {
      --skips_;
      return;
    }
    wanted_ = callers + waiting;
  }

  /// How many callers the next job should have. 0: nobody is waited for, and any thread may give
  /// the answers.
  [[nodiscard]] std::size_t wanted() const noexcept { return wanted_; }

  /// Call `answered` when the answers have been given, which took `took`. Returns how long to wait
  /// for these callers: at most as long as a sync takes, because two syncs would be quicker than a
  /// longer wait.
  [[nodiscard]] Duration answered(Duration took) noexcept {
    if (took > took_ / 2) {
      wanted_ = 0;
      give_up();
    }
    return wanted_ == 0 ? Duration(0) : took_;
  }

  /// Call `waited` after the wait, with whether the callers came.
  void waited(bool came) noexcept {
    if (wanted_ == 0) return;
    if (came) {
      next_skips_ = 1;
    } else {
      give_up();
    }
    wanted_ = 0;
  }

 private:
  void give_up() noexcept {
    skips_ = next_skips_;
    next_skips_ = std::min(2 * next_skips_, kMostSkips);
  }

  Duration most_;
  Duration took_{};
  std::size_t wanted_ = 0;
  unsigned skips_ = 0;
  unsigned next_skips_ = 1;
};

}  // namespace tarry::embedded
