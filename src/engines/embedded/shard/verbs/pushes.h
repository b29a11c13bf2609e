// Pushes: push and move, the first row of the table of verbs (docs/semantics.md).
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/reply.h"
#include "core/request.h"
#include "core/rules/expiry.h"
#include "core/settings/grouping.h"
#include "engines/embedded/shard/context/shard_context.h"
#include "engines/embedded/shard/verbs/queues.h"

namespace tarry::embedded {

class Pushes {
 public:
  Pushes(ShardContext& shard, Queues& queues) : shard_(shard), queues_(queues) {}

  void execute(const core::PushRequest& request, const Part& part);
  void execute(const core::MoveRequest& request, const Part& part);

 private:
  struct Pushed {
    const std::string& bytes;  // of the request
    const core::PushItem& item;
    std::uint32_t payload_crc;
    const core::MoveItem* move;  // the move that it is part of, or null
  };

  /// Calls `push(i, queue)` for each item. The first good item makes the queue, so a request with
  /// only bad items leaves nothing behind.
  template <typename F>
  void push_items(const std::string& name, const Part& part, core::PushReply& reply,
                  std::uint64_t bytes, std::uint64_t largest, F&& push);
  /// True if the queue's messages are in another shard by now, or will be soon.
  [[nodiscard]] bool is_misled(const std::string& queue, const Prepared& prepared) const;
  void push_one(QueueId queue, const Pushed& pushed, core::PushResult& result,
                std::string& reply_bytes);
  [[nodiscard]] Result<core::Expiry> expiry_of(QueueId queue, const Pushed& pushed,
                                               std::int64_t due_ms) const;
  [[nodiscard]] Result<core::GroupSpan> group_of(QueueId queue, const Pushed& pushed) const;
  void put_new(QueueId queue, const Pushed& pushed, core::PushResult& result,
               std::string& reply_bytes);
  void push_onto(Handle found, IfExists rule, const Pushed& pushed, core::PushResult& result,
                 std::string& reply_bytes);
  void replace(Handle found, const Pushed& pushed, core::PushResult& result,
               std::string& reply_bytes);
  /// Moves the message to the push's due time if that is earlier (rule `earlier`) or later
  /// (`later`).
  void move_due(Handle found, IfExists rule, const Pushed& pushed, core::PushResult& result);

  ShardContext& shard_;
  Queues& queues_;
};

}  // namespace tarry::embedded
