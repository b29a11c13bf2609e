// ObjectiveTally: whether one queue keeps its lateness objective, and where the time went.
//
// It counts first attempts as they are claimed, and is shown the queue's state now and then. By the
// states it knows why a message was late: the queue was paused, a limit of the queue held it, no
// claim was waiting, or claims were waiting and the engine was late.
//
// Invariants
//  1. The counts since the beginning never fall. Those of the window end with the window, and with
//     another objective.
//
// Not thread safe. Bounded: 60 buckets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <tarry/settings.h>
#include <tarry/time.h>

namespace tarry::metrics {

class ObjectiveTally {
 public:
  struct Counts {
    std::uint64_t claims = 0;
    std::uint64_t engine = 0;     // late, although claims were waiting
    std::uint64_t unclaimed = 0;  // late, and no claim was waiting
    std::uint64_t paused = 0;     // late, and the queue was paused
    std::uint64_t limited = 0;    // late, and a limit of the queue held the message

    [[nodiscard]] std::uint64_t late() const noexcept {
      return engine + unclaimed + paused + limited;
    }
    void add(const Counts& other) noexcept;
  };

  void set(Objective objective);
  /// The queue's objective and state at `now`. All times are the store's.
  void observe(const QueueStats& queue, Time now);
  void claimed(Time due, Time at);

  /// The last hour. It ends with the latest state or claim.
  [[nodiscard]] ObjectiveStats stats() const;
  /// Since the beginning.
  [[nodiscard]] const Counts& total() const noexcept { return total_; }

 private:
  static constexpr std::size_t kMinutes = 60;
  struct Bucket {
    std::int64_t minute = 0;
    Counts counts;
  };

  [[nodiscard]] bool was(const std::optional<Time>& seen, Time due) const noexcept;

  Objective objective_;
  std::array<Bucket, kMinutes> buckets_ = {};
  Counts total_;
  std::int64_t minute_ = 0;           // the latest
  std::optional<Time> observed_;      // the latest state
  std::optional<Time> paused_seen_;   // the latest state in which the queue was paused
  std::optional<Time> limited_seen_;  // the latest state in which a limit held messages
  std::optional<Time> idle_seen_;     // the latest state in which no claim was waiting
  bool overdue_ = false;              // in the latest state
};

}  // namespace tarry::metrics
