// Inbox: each partition has a stream into which any Redis client may put pushes, cancels and
// reschedules with a plain XADD. A process that has the store open drains it, in order:
//
//   1. read    a batch from the stream's head
//   2. take    one script for each shard that has entries: it carries out the entries that are
//              newer than the last entry that the shard took from this inbox, and records the
//              newest of them
//   3. done    answered entries leave the stream; entries that cannot be carried out are set aside
//
// Invariants, whichever processes drain at the same time, and wherever one of them is killed
//  1. Nothing is lost: an entry leaves the stream only after its shard has answered, or moves into
//     the stream of entries that are set aside.
//  2. Nothing is done twice: a shard takes only entries that are newer than the last one that it
//     took, and records that in the same script run.
//  3. Order is kept among the entries of one inbox for one shard, and so for one key. A batch is
//     the head of the stream without held entries. A shard gets all its entries of a batch in one
//     call. The next batch is read when that call has been answered. A slower process's call finds
//     its entries too old, and does nothing.
//  4. If an entry is not newer and the shard knows its mark, the entry is a repeat. The shard keeps
//     the marks of its last call. That is enough: an entry of an earlier call had left the stream
//     before the last call's batch was read, or was in that batch too. If the shard does not know
//     the mark, the ids of the stream went back (data was lost, or the stream was deleted). Nobody
//     knows then whether the entry was carried out, so it is set aside with that reason.
//  5. After a temporary failure (Redis is full, a node is unreachable, keys are damaged) the entry
//     stays in the stream, and so do all later entries for the same shard: the shard is held. Later
//     entries for other shards are still carried out, as long as at most `kMostHeld` entries are
//     held.
//
// While one process works on a batch, the others leave the inbox alone (for `hold_ms` at most).
// This only saves the server work; correctness does not depend on it.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/log.h>

#include "core/limits.h"
#include "engines/redis/inbox/inbox_batch.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

struct InboxOptions {
  core::Limits limits;
  /// How long other processes leave an inbox alone while one works on a batch. 0 (tests): not at
  /// all.
  std::int64_t hold_ms = 2'000;
  Log log;
};

class Inbox {
 public:
  Inbox(Context& context, InboxOptions options);

  /// Drains the inbox until only held entries are left. The next sweep tries these again.
  void drain(std::uint32_t partition);
  /// Takes what a sweep found in the inbox: the number of entries, or an error.
  void swept(std::uint32_t partition, net::RedisView found);
  /// Call `told` when something was published on a partition's channel. True if it was about the
  /// inbox.
  bool told(std::string_view channel, std::string_view message);

 private:
  struct State {
    bool draining = false;
    bool again = false;
    bool made = false;       // its keys exist
    std::string complained;  // why the inbox waits, to report it once; empty: it does not
    // For this run:
    std::string from;             // where the next batch begins, as inbox_read wants it
    std::int64_t left = 0;        // how many entries before `from` were left
    InboxHeld held;               // the shards of the entries that were left
    std::optional<Error> failed;  // why some entries were left
  };

  void read(std::uint32_t partition);
  void go_on(std::uint32_t partition, InboxBatch& batch);
  void take(std::uint32_t partition, net::RedisReply reply);
  void done(std::uint32_t partition, const InboxBatchPtr& batch);
  void end(std::uint32_t partition);
  void stop(std::uint32_t partition, const Error& error);
  void complain(std::uint32_t partition, const std::string& why);
  void recovered(std::uint32_t partition);
  void tell_of(std::uint32_t partition, const InboxBatch& batch, std::int64_t set_aside);

  Context& context_;
  const InboxOptions options_;
  const std::string name_;  // how other processes know this process
  std::vector<State> states_;
};

}  // namespace tarry::redis
