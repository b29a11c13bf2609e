// Removals: removes queues step by step on all shards (operation.h); the front leads. Meanwhile
// other requests for the queue wait here. So a push during the removal makes the queue again, and
// is not lost with the old queue. Claims see the queue as paused.
//
// Thread safety: none; the shard's thread.
//
// Invariants
//  1. From `look` or `freeze` until `thaw` the queue is frozen, and its requests are parked.
//  2. The first shard frees the queue after all other shards. Until then its record says that the
//     removal is to be completed, in case of a crash.
//  3. A removal that failed half-way is stuck: requests for its queue fail until the removal begins
//     again.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <tarry/result.h>

#include "core/request.h"
#include "engines/embedded/shard/context/shard_context.h"
#include "engines/embedded/shard/verbs/forecasts.h"
#include "engines/embedded/shard/verbs/queues.h"
#include "engines/embedded/shard/verbs/sweeps.h"

namespace tarry::embedded {

class Removals {
 public:
  Removals(ShardContext& shard, Queues& queues, Sweeps& sweeps, Forecasts& forecasts)
      : shard_(shard), queues_(queues), sweeps_(sweeps), forecasts_(forecasts) {}

  void execute(const core::RemoveRequest& request, const Part& part);
  /// From now on the queue gives no claims, and requests for it wait.
  void freeze(const std::string& queue);
  /// True if the part's queue is being removed. Then the part waits for the end of the removal, or
  /// has failed.
  [[nodiscard]] bool park(Part& part);
  /// The parts whose wait is over because their queue's removal has ended, in order.
  [[nodiscard]] std::vector<Part> take_thawed();
  /// True if the queue's removal is decided. Then stats no longer show the queue.
  [[nodiscard]] bool is_going(const std::string& queue) const;
  /// Fails all waiting parts with `error`.
  void fail_parked(const Error& error);

 private:
  struct Removal {
    bool decided = false;
    std::optional<Error> stuck;
  };

  void look(const std::string& queue, const OperationPtr& op);
  void decide(const std::string& queue, const OperationPtr& op);
  void sweep(const std::string& queue, const OperationPtr& op);
  /// Frees the queue's number. Error: no room for the record.
  [[nodiscard]] std::optional<Error> free_queue(QueueId queue);
  void thaw(const std::string& queue, const OperationPtr& op);
  [[nodiscard]] std::vector<Part> take_parked(const std::string& queue);

  ShardContext& shard_;
  Queues& queues_;
  Sweeps& sweeps_;
  Forecasts& forecasts_;
  std::unordered_map<std::string, Removal> removals_;
  std::vector<Part> parked_;
  std::vector<Part> thawed_;
};

}  // namespace tarry::embedded
