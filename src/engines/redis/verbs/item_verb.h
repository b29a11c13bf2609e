// ItemVerb: a verb with items, each of which goes to one shard of one queue: push, cancel,
// reschedule, get, revive, settle, extend. `run_items` looks the queue up, splits the items by
// shard and into calls of bounded work, and repeats items that a shard refused because the queue
// had moved meanwhile.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/redis/node/countdown.h"
#include "engines/redis/node/ids.h"
#include "engines/redis/node/server.h"
#include "engines/redis/queues/directory.h"
#include "engines/redis/queues/identity.h"

namespace tarry::redis {

/// Objects that the verbs use. Outlives all verbs.
struct Context {
  Server& server;
  Directory& directory;
  Ids& ids;
  Identity& identity;  // its secret hashes keys and checks generated keys
};

using Items = std::vector<std::uint32_t>;
using ItemSpan = std::span<const std::uint32_t>;

class ItemVerb {
 public:
  virtual ~ItemVerb() = default;

  [[nodiscard]] virtual Script script() const = 0;
  [[nodiscard]] virtual bool makes_queue() const { return false; }
  /// True if a lost answer leaves something in doubt.
  [[nodiscard]] virtual bool changes() const { return true; }
  /// True if items are found by their keys; otherwise `shard_of` gives their shards' numbers.
  [[nodiscard]] virtual bool is_by_key() const { return true; }
  [[nodiscard]] virtual std::string_view key_of(std::uint32_t /*item*/) const { return {}; }
  [[nodiscard]] virtual std::uint32_t shard_of(std::uint32_t /*item*/) const { return 0; }
  /// About how many bytes the item takes on the wire.
  [[nodiscard]] virtual std::size_t bytes_of(std::uint32_t item) const = 0;

  /// Adds the script's own arguments. May be called twice; then it must add the same.
  virtual void build(net::RedisCommand& command, ItemSpan items) = 0;
  /// True if plain commands and a shorter script can do all these items. Then `before` gives the
  /// commands for `Server::run_after`, and `build_after` adds the shorter script's arguments.
  [[nodiscard]] virtual bool is_plain(ItemSpan /*items*/) const { return false; }
  [[nodiscard]] virtual std::vector<net::RedisCommand> before(const Place& /*place*/,
                                                              ItemSpan /*items*/) {
    return {};
  }
  [[nodiscard]] virtual Script script_after() const { return script(); }
  virtual void build_after(net::RedisCommand& /*command*/, ItemSpan /*items*/) {}

  /// During a reshard: the script for the closed shard, which is asked first for the item's key. If
  /// `is_absent` is true after `read`, the item goes on to the open shard.
  [[nodiscard]] virtual Script script_closed() const { return script(); }
  virtual void build_closed(net::RedisCommand& command, ItemSpan items) { build(command, items); }
  [[nodiscard]] virtual bool is_absent(std::uint32_t /*item*/) const { return true; }
  /// True if this request makes the item's key, which therefore exists nowhere yet.
  [[nodiscard]] virtual bool is_new(std::uint32_t /*item*/) const { return false; }

  /// Reads the reply of whichever script ran. False for a reply that no script of ours gives.
  [[nodiscard]] virtual bool read(const Place& place, net::RedisView reply, ItemSpan items) = 0;
  virtual void fail(std::uint32_t item, const Error& error) = 0;
  /// Called for each item if there is no such queue.
  virtual void absent(std::uint32_t /*item*/) {}
};

/// Calls `begin` of `countdown` once, and `end` when every item has its answer. `number`: if not 0,
/// only the queue with that number counts, not another queue of the same name.
void run_items(Context& context, std::shared_ptr<ItemVerb> verb, std::string_view queue,
               Items items, std::shared_ptr<Countdown> countdown, std::uint32_t number = 0);

/// Call `doubt` if a shard of `refused` has answered that the queue has moved. Drops the known
/// facts about the queue, unless another call has learned newer ones meanwhile. After `done`, look
/// the queue up again.
void doubt(Context& context, const QueuePtr& refused,
           base::UniqueFunction<void(Result<void>)> done);

}  // namespace tarry::redis
