// KeyVerbs: cancel and reschedule, which name a message by its key (docs/semantics.md).
//
// Thread safety: none; the shard's thread.
#pragma once

#include <string_view>

#include "core/reply.h"
#include "core/request.h"
#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

class KeyVerbs {
 public:
  explicit KeyVerbs(ShardContext& shard) : shard_(shard) {}

  void execute(const core::CancelRequest& request, const Part& part);
  void execute(const core::RescheduleRequest& request, const Part& part);

 private:
  /// Finds the message of that key. If it is unknown or has ended, sets `result` and returns
  /// kNoHandle.
  [[nodiscard]] Handle find_unended(QueueId queue, std::string_view key,
                                    core::ItemResult& result) const;
  /// `seen`: not null if the message is moved away.
  void cancel(QueueId queue, std::string_view key, const core::Seen* seen,
              core::ItemResult& result);
  [[nodiscard]] bool is_as_seen(const Message& message, const core::Seen& seen) const;
  void reschedule(QueueId queue, std::string_view key, const core::RescheduleItem& item,
                  core::ItemResult& result);

  ShardContext& shard_;
};

}  // namespace tarry::embedded
