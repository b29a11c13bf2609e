// GroupCommitDelay: how long a synced journal waits for the callers whom it has just answered,
// before it syncs for those alone who came meanwhile. Most callers that wait for an answer ask for
// the next thing at once; eight of them would share a sync by fours, one four in the sync and the
// other behind it, for ever. Waiting is worth its while only where they come back sooner than a
// sync takes, and where their answers are given quickly; where not, it is soon tried no more, and
// then now and again.
//
// Told of everything, asks for nothing.
//
// Thread safety: none; whoever has the committer owns it.
//
// Invariants
//  1. After each wait in vain, or at too high a price, it skips as many jobs as after the one
//     before and as many again: 1, 2, 4, up to kMostSkips.
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

  /// Where a sync takes longer than `most` (a disk that hangs, a machine that slept, a clock moved
  /// by hand), nobody is waited for.
  explicit GroupCommitDelay(Duration most = std::chrono::milliseconds(20)) noexcept : most_(most) {}

  /// A job is durable, after `took`; its `callers` are about to be answered, and `waiting` others
  /// are there already.
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

  /// As many callers as the next job should have; 0: it is not waited for, and answers need not be
  /// given by the thread that would.
  [[nodiscard]] std::size_t wanted() const noexcept { return wanted_; }

  /// The answers have been given, in so long a time. How long to wait for those callers: no longer
  /// than a sync takes, for then there would have been two.
  [[nodiscard]] Duration answered(Duration took) noexcept {
    if (took > took_ / 2) {
      wanted_ = 0;
      give_up();
    }
    return wanted_ == 0 ? Duration(0) : took_;
  }

  /// Whether they came.
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
