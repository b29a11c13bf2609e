// Removals: queues that are removed, step by step on all shards (operation.h), led by the front.
// Meanwhile requests for the queue wait here, so that a push that comes then makes the queue anew,
// and is not lost with the old one; claims find it paused.
//
// Thread safety: none; the shard's thread.
//
// Invariants
//  1. From `look` or `freeze` until `thaw` the queue is frozen, and its requests are parked.
//  2. The first shard lets the queue go last: until then its record says what a crash leaves to be
//     done.
//  3. A removal that has failed half-way is stuck: its requests fail until it is begun again.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <tarry/result.h>

#include "core/request.h"
#include "engines/embedded/shard/forecasts.h"
#include "engines/embedded/shard/queues.h"
#include "engines/embedded/shard/shard_context.h"
#include "engines/embedded/shard/sweeps.h"

namespace tarry::embedded {

class Removals {
 public:
  Removals(ShardContext& shard, Queues& queues, Sweeps& sweeps, Forecasts& forecasts)
      : shard_(shard), queues_(queues), sweeps_(sweeps), forecasts_(forecasts) {}

  void execute(const core::RemoveRequest& request, const Part& part);
  /// No claims from the queue from now on, and requests for it wait.
  void freeze(const std::string& queue);
  /// Takes the part if its queue is being removed: it waits for the end, or has failed at once.
  [[nodiscard]] bool park(Part& part);
  /// The parts that go on, in order, since their queue's removal has ended.
  [[nodiscard]] std::vector<Part> take_thawed();
  /// It was decided that the queue goes: nobody is told of it any more.
  [[nodiscard]] bool is_going(const std::string& queue) const;
  /// All that is parked fails.
  void fail_parked(const Error& error);

 private:
  struct Removal {
    bool decided = false;
    std::optional<Error> stuck;
  };

  void look(const std::string& queue, const OperationPtr& op);
  void decide(const std::string& queue, const OperationPtr& op);
  void sweep(const std::string& queue, const OperationPtr& op);
  /// The queue's number is free again. Error: no room for the record.
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
