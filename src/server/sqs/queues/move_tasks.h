// MoveTasks: the message move tasks of a front since it started, for ListMessageMoveTasks. A task
// runs within the request that starts it, so every task that is told of has ended.
//
// Thread safety: the server's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace tarry::sqs {

struct MoveTask {
  std::string source_arn;
  std::string destination_arn;  // empty: each message went back to its own queue
  std::uint64_t to_move = 0;    // at its start
  std::uint64_t moved = 0;
  std::int64_t started_ms = 0;
  bool done = true;  // false: it stopped at its limit, and messages are left
};

class MoveTasks {
 public:
  void add(MoveTask task) {
    auto& tasks = by_source_[task.source_arn];
    tasks.push_front(std::move(task));
    if (tasks.size() > kMostTasks) tasks.pop_back();
    if (by_source_.size() > kMostSources) by_source_.erase(by_source_.begin());
  }
  /// The latest first.
  [[nodiscard]] const std::deque<MoveTask>& of(const std::string& source_arn) const {
    static const std::deque<MoveTask> kNone;
    const auto found = by_source_.find(source_arn);
    return found == by_source_.end() ? kNone : found->second;
  }

 private:
  static constexpr std::size_t kMostTasks = 10;  // as AWS tells of
  static constexpr std::size_t kMostSources = 1'000;

  std::map<std::string, std::deque<MoveTask>> by_source_;
};

}  // namespace tarry::sqs
