// Sweeps: work on every message of a queue: purge, revive all, and the messages of a removed queue.
// A sweep visits all handles in slices, one per turn, so that a purge of ten million messages
// delays no other request. Sweeps run one after the other.
//
// Thread safety: none; the shard's thread.
//
// Invariants
//  1. A sweep does not touch messages that were pushed after it began.
//  2. It ends its part once: after the last slice, when there is no room, or by `fail_all`.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include <tarry/result.h>

#include "core/request.h"
#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

class Sweeps {
 public:
  explicit Sweeps(ShardContext& shard) : shard_(shard) {}

  void execute(const core::PurgeRequest& request, const Part& part);
  /// Revives messages by their keys at once, and all messages in slices.
  void execute(const core::ReviveRequest& request, const Part& part);
  /// Removes every message of the queue, then calls `then`. An error of `then` fails the operation.
  void remove(const OperationPtr& op, QueueId queue, std::function<std::optional<Error>()> then);

  /// True while there is more to do.
  bool run_slice();
  /// Ends all sweeps with `error`. Their changes so far stand.
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
  /// These four return true if the message counts as changed.
  bool visit(Handle handle, Kind kind);
  bool purge(Handle handle);
  bool revive(Handle handle);
  bool remove(Handle handle);
  void end(const OperationPtr& op, std::uint64_t count);

  ShardContext& shard_;
  std::deque<Sweep> sweeps_;
};

}  // namespace tarry::embedded
