// CommitClock: counts how long the steps of commits take, in buckets. Together with the time until
// its shard's turn they are what a message waits for between its due time and its claim.
//
// Thread safe and without locks: the thread that has the committer and threads that answer record,
// any thread reads. A reading may miss what is being recorded.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include <tarry/settings.h>

namespace tarry::embedded {

class CommitClock {
 public:
  enum class Step : std::uint8_t { gather, sync, answer };

  /// A negative duration counts as 0.
  void record(Step step, std::chrono::nanoseconds took) noexcept;
  /// Adds what was recorded so far.
  void add_to(CommitTimes& times) const noexcept;

 private:
  struct Counts {
    std::array<std::atomic<std::uint64_t>, CommitTimes::kBoundsSeconds.size() + 1> buckets{};
    std::atomic<std::int64_t> sum_ns{0};
  };
  std::array<Counts, 3> steps_;
};

}  // namespace tarry::embedded
