// Forecasts: counts, for each span of time ahead, how many messages of a queue fall due in it. It
// visits all handles in slices, one slice in each turn. Forecasts run one after the other.
//
// Thread safety: none; the shard's thread.
//
// Invariants
//  1. A forecast shows the moment of the request: messages pushed later are not counted.
//  2. It ends its part once: after the last slice, or by `fail_all`.
#pragma once

#include <cstdint>
#include <deque>

#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

class Forecasts {
 public:
  explicit Forecasts(ShardContext& shard) : shard_(shard) {}

  void execute(const core::ForecastRequest& request, const Part& part);
  /// True while there is more to do.
  bool run_slice();
  /// Call `forget` when the queue is gone. Its forecasts count nothing more, because another queue
  /// may get its number.
  void forget(QueueId queue) noexcept;
  /// Ends all forecasts with `error`.
  void fail_all(const Error& error);

 private:
  struct Forecast {
    OperationPtr op;
    QueueId queue = 0;
    std::int64_t asked_ms = 0;
    std::int64_t from_ms = 0;   // when the first span begins
    std::int64_t width_ms = 0;  // of a span
    Handle cursor = 0;
    Handle end = 0;
    core::ForecastReply found = {};
  };

  static void count(const Message& message, Forecast& forecast) noexcept;
  void end(const Forecast& forecast);

  ShardContext& shard_;
  std::deque<Forecast> forecasts_;
};

}  // namespace tarry::embedded
