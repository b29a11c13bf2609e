// Turns: limits how many handlers of a worker run at once over all its queues. Turns are given in
// the order in which they were requested, so that a busy queue cannot starve another one. Thread
// safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

namespace tarry::worker {

class Turns {
 public:
  /// `total`: how many turns there are; 0 means no limit.
  explicit Turns(std::uint32_t total) : free_(total), limited_(total > 0) {}

  /// Waits for a turn, which must be returned with `give`. False if `given_up` becomes true first;
  /// the thread that sets it calls `wake`.
  [[nodiscard]] bool take(const std::atomic<bool>& given_up) {
    if (!limited_) return true;
    std::unique_lock lock(mutex_);
    const std::uint64_t me = next_++;
    asking_.push_back(me);
    changed_.wait(lock, [&] { return given_up || (free_ > 0 && asking_.front() == me); });
    const bool mine = free_ > 0 && asking_.front() == me && !given_up;
    if (mine) --free_;
    std::erase(asking_, me);
    changed_.notify_all();
    return mine;
  }

  void give() {
    if (!limited_) return;
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_all();
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> asking_;
  std::uint64_t next_ = 0;
  std::uint32_t free_;
  const bool limited_;
};

}  // namespace tarry::worker
