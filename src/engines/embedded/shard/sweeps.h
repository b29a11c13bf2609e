// Sweeps: what is done to every message of a queue: purge, revive, and what a removal takes. A
// sweep goes over all handles in slices, one a turn, so that a purge of ten million holds nobody
// up. Sweeps are run one after the other.
//
// Thread safety: none; the shard's thread.
//
// Invariants
//  1. A sweep leaves alone what was pushed after it began.
//  2. It ends its part once: when it has been over all, has found no room, or `fail_all`.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include <tarry/result.h>

#include "core/request.h"
#include "engines/embedded/shard/shard_context.h"

namespace tarry::embedded {

class Sweeps {
 public:
  explicit Sweeps(ShardContext& shard) : shard_(shard) {}

  void execute(const core::PurgeRequest& request, const Part& part);
  /// By keys at once; of all in slices.
  void execute(const core::ReviveRequest& request, const Part& part);
  /// Takes everything of the queue, and then calls `then`, whose error is the operation's.
  void remove(const OperationPtr& op, QueueId queue, std::function<std::optional<Error>()> then);

  /// True while there is more to do.
  bool run_slice();
  /// All end with that error; what they have done stands.
  void fail_all(const Error& error);

 private:
  enum class Kind : std::uint8_t { purge, revive, remove };
  struct Sweep {
    OperationPtr op;
    QueueId queue = 0;
    Kind kind = Kind::purge;
    std::uint64_t id_limit = 0;  // messages from this id on were pushed later
    std::function<std::optional<Error>()> then = {};
    Handle cursor = 0;
    std::uint64_t count = 0;  // messages that it has changed
  };

  void begin(const OperationPtr& op, QueueId queue, Kind kind);
  [[nodiscard]] std::optional<Error> take_room(Kind kind);
  /// These say whether the message counts as one that was changed.
  bool visit(Handle handle, Kind kind);
  bool purge(Handle handle);
  bool revive(Handle handle);
  bool remove(Handle handle);
  void end(const OperationPtr& op, std::uint64_t count);

  ShardContext& shard_;
  std::deque<Sweep> sweeps_;
};

}  // namespace tarry::embedded
