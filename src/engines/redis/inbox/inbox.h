// Inbox: each partition has a stream into which any Redis client may put pushes, cancels and
// reschedules with a plain XADD. Whoever has the store open for long drains it, in order:
//
//   1. read    a batch from the stream's head
//   2. take    for each shard that something is for, one script: what is newer than the last entry
//              that the shard took from this inbox is carried out, and remembered, at once
//   3. done    what was answered leaves the stream; what cannot be carried out is set aside
//
// Invariants, whoever drains at the same time, and wherever one of them is killed
//  1. Nothing is lost: an entry leaves the stream only after its shard has answered, or into the
//     stream of those set aside.
//  2. Nothing is done twice: a shard takes only what is newer than the last entry that it took, and
//     remembers that in the same script run.
//  3. Order is kept among the entries of one inbox for one shard, so for one key: a batch is the
//     head of the stream but for what is held, a shard gets all of it that is its own in one call,
//     and the next batch is read when that has been answered. A slower one's call finds its entries
//     too old, and does nothing.
//  4. An entry that is not newer is a repeat if the shard knows its mark: it keeps those of its
//     last call. That is enough, because an entry that was taken in an earlier call had left the
//     stream before the later batch was read, or was in that batch too. What it does not know, and
//     what is in the stream all the same, came there because ids went back (data was lost, a stream
//     was deleted): nobody knows whether it was carried out, so it is set aside and says so.
//  5. What fails for the moment (Redis is full, a node is away, keys are damaged) stays in the
//     stream, and so does all behind it that is for the same shard: that shard is held. What is
//     behind it for others goes on, as long as no more than `kMostHeld` entries are held.
//
// While one of them has a batch in hand, the others leave the inbox to it (for `hold_ms` at most):
// to spare the server the work, and for nothing else.
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
  /// 0 (tests): not at all.
  std::int64_t hold_ms = 2'000;
  Log log;
};

class Inbox {
 public:
  Inbox(Context& context, InboxOptions options);

  /// Until there is nothing left but what is held; the next sweep tries again.
  void drain(std::uint32_t partition);
  /// What a sweep found in it: how many entries, or an error.
  void swept(std::uint32_t partition, net::RedisView found);
  /// Something was published on a partition's channel. True: it was about its inbox.
  bool told(std::string_view channel, std::string_view message);

 private:
  struct State {
    bool draining = false;
    bool again = false;
    bool made = false;       // its keys are there
    std::string complained;  // why it waits, so that it is not told every second; empty: it goes on
    // Of this run:
    std::string from;             // where the next batch begins, as inbox_read wants it
    std::int64_t left = 0;        // entries that were left before that
    InboxHeld held;               // for whom they are
    std::optional<Error> failed;  // why some of them are
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
  const std::string name_;  // this process's, to the others
  std::vector<State> states_;
};

}  // namespace tarry::redis
