#include "engines/embedded/shard/requests/part_failure.h"

#include <string>
#include <variant>

#include "core/engine_parts/partly_done.h"

namespace tarry::embedded {
namespace {

struct QueueVerb {
  std::string_view verb;
  const std::string* queue = nullptr;
};

QueueVerb queue_verb(const core::Request& request) {
  if (const auto* asked = std::get_if<core::ConfigureRequest>(&request)) {
    return {"configure", &asked->queue};
  }
  if (const auto* asked = std::get_if<core::PauseRequest>(&request)) {
    return {"pause", &asked->queue};
  }
  if (const auto* asked = std::get_if<core::ResumeRequest>(&request)) {
    return {"resume", &asked->queue};
  }
  if (const auto* asked = std::get_if<core::PurgeRequest>(&request)) {
    return {"purge", &asked->queue};
  }
  if (const auto* asked = std::get_if<core::ReviveRequest>(&request)) {
    return {"revive", &asked->queue};
  }
  return {};
}

}  // namespace

void fail_part(const Part& part, const Error& error) {
  Operation& op = *part.op;
  if (part.all_items) return op.fail(error);
  if (auto* reply = std::get_if<core::ItemsReply>(&op.reply)) {
    for (const std::uint32_t i : part.items) reply->items[i].error = error;
  } else if (auto* pushed = std::get_if<core::PushReply>(&op.reply)) {
    for (const std::uint32_t i : part.items) pushed->items[i].error = error;
  } else if (auto* found = std::get_if<core::GetReply>(&op.reply)) {
    for (const std::uint32_t i : part.items) found->items[i] = error;
  } else {
    op.fail(error);
  }
}

void tell_partly_done(Operation& op, std::uint32_t shards) {
  if (const auto* remove = std::get_if<core::RemoveRequest>(&op.request)) {
    if (!op.decided) return;
    op.error = Error{ErrorCode::unknown_outcome,
                     "the removal of queue " + remove->queue +
                         " has begun; remove it again to end it: " + op.error->message};
    return;
  }
  const auto [verb, queue] = queue_verb(op.request);
  if (queue == nullptr || op.shards_changed == 0) return;
  const auto* counted = std::get_if<core::CountReply>(&op.reply);
  const bool of_messages = std::holds_alternative<core::PurgeRequest>(op.request) ||
                           std::holds_alternative<core::ReviveRequest>(op.request);
  op.error = core::partly_done(verb, *queue,
                               of_messages && counted != nullptr
                                   ? core::messages_so_far(counted->count)
                                   : core::shards_so_far(op.shards_changed, shards),
                               *op.error);
}

}  // namespace tarry::embedded
