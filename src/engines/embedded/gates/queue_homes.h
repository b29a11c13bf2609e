// QueueHomes: the queues that keep the order of pushes (`group_order` push). Such a queue lives in
// one shard, its home, because nobody could tell which of two shards' messages came first. The home
// is given by the queue's name.
//
// The home's journal decides, and the home sets the queue here. So a change of the order is one
// record. Other shards' settings of the queue only follow.
//
// While a queue changes its order, it takes no pushes. A push may have been sent to a shard before
// that and be carried out there later: it compares the `version` of both times.
//
// Thread safety: any thread may call any function.
#pragma once

#include <atomic>
#include <cstdint>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <tarry/result.h>

#include "base/string_hash.h"

namespace tarry::embedded {

/// For a push or a configure that came while the queue was given another order.
[[nodiscard]] Error changes_order(std::string_view queue);
/// A queue that has messages gets no other order.
[[nodiscard]] Error order_is_kept(std::string_view queue, std::uint64_t messages);

class QueueHomes {
 public:
  struct Route {
    std::uint64_t version = 0;  // of the map that this was read from, or of an older one
    bool at_home = false;       // all messages of the queue are in its home
    bool changing = false;      // the queue takes no pushes now
  };

  /// Rises with each change; 0 while no queue has had a home.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(); }
  [[nodiscard]] Route route(std::string_view queue) const;

  /// The home calls `set` when the queue's setting may have changed.
  void set(const std::string& queue, bool at_home);
  /// False if the queue is changing its order already.
  [[nodiscard]] bool begin_change(const std::string& queue);
  void end_change(const std::string& queue);

 private:
  struct State {
    bool at_home = false;
    bool changing = false;
  };
  using States = std::unordered_map<std::string, State, base::StringHash, std::equal_to<>>;

  void note(const std::string& queue, State state);

  std::atomic<std::uint64_t> version_{0};
  mutable std::shared_mutex mutex_;
  States states_;
};

}  // namespace tarry::embedded
