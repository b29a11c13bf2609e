// InboxBatch: some entries from the head of an inbox, on their way to their shards.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_function.h"
#include "engines/redis/inbox/inbox_entry.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

struct InboxItem {
  std::string_view id;
  std::string order;  // the id, as the scripts compare it
  std::string mark;
  InboxEntry entry;
  std::uint64_t message_id = 0;  // of a push, once the message has an id
  bool answered = false;         // the entry may leave the inbox
  std::string why;               // not empty: the entry is set aside
};

/// Names of shards ("orders/0") and of whole queues ("orders") whose entries wait.
using InboxHeld = std::set<std::string, std::less<>>;

struct InboxBatch {
  explicit InboxBatch(net::RedisReply given) : reply(std::move(given)) {}

  net::RedisReply reply;  // the items point into it
  std::uint32_t partition = 0;
  std::vector<InboxItem> items;
  bool is_others = false;       // another process drains this inbox, so there are no items
  InboxHeld held;               // entries for these shards stay; a shard that fails is added
  std::optional<Error> failed;  // the common error of the shards that failed
};
using InboxBatchPtr = std::shared_ptr<InboxBatch>;

/// Reads the reply of inbox_read. An entry that cannot be read is marked as answered, with the
/// reason. Null if no script of ours gives such a reply.
[[nodiscard]] InboxBatchPtr read_inbox_batch(net::RedisReply reply, std::uint32_t partition,
                                             const core::Limits& limits);

/// Entries with more bytes than this are not read at all.
[[nodiscard]] std::uint64_t longest_inbox_entry(const core::Limits& limits) noexcept;

/// Brings the items to their shards, except to held shards. `done` runs once, when every item has
/// been answered, has failed or is held.
void take_inbox_batch(Context& context, const InboxBatchPtr& batch,
                      base::UniqueFunction<void()> done);

}  // namespace tarry::redis
