// Where a queue's shards live: in which partition, under which keys.
//
// Plain values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/redis/redis.h"

namespace tarry::redis {

/// One shard of a queue.
struct Place {
  static constexpr std::size_t kKeys = 13;
  // Indices in `keys`. In a closed shard MSGS and DUE have other names.
  static constexpr std::size_t kMsgs = 1;
  static constexpr std::size_t kDue = 2;
  static constexpr std::size_t kMeta = 0;
  static constexpr std::size_t kLeased = 5;

  std::string queue;
  std::uint32_t number = 0;  // the queue's
  std::uint32_t shard = 0;
  std::uint32_t partition = 0;
  std::string generation;
  bool closed = false;                  // its messages are being moved out: it takes no new key
  std::string name;                     // in heads, agenda and wake-ups: "orders/0"
  std::string channel;                  // the partition's
  std::array<std::string, kKeys> keys;  // in the order of scripts/prelude.lua
};

/// A queue as the store knows it, at one generation of its shards. Immutable once made, except for
/// `expires`.
///
/// During a reshard a queue has two sets of shards. A closed shard still handles the messages that
/// it has, and takes no new key. So if a closed shard does not have a key, it never will again, and
/// the open shards handle that key.
struct QueuePlaces {
  std::string name;
  std::uint32_t number = 0;
  std::vector<Place> shards;  // closed shards first; at least one is open
  std::uint32_t closed = 0;   // how many of them are closed
  /// The queue had an `expire`, so plain commands were refused. Scripts do the same, so it does no
  /// harm if that has changed.
  mutable bool expires = false;
  /// The queue has limits, or had some. Scripts decide, so it does no harm if that has changed.
  mutable bool limited = false;

  /// The number of open shards.
  [[nodiscard]] std::uint32_t open() const noexcept {
    return static_cast<std::uint32_t>(shards.size()) - closed;
  }
  /// All shards, the open ones first.
  [[nodiscard]] const Place& open_first(std::size_t i) const noexcept {
    return shards[(closed + i) % shards.size()];
  }
  /// Whether all keys have the same hash tag, so that one script may use them in a cluster.
  [[nodiscard]] bool is_in_one_slot() const noexcept;
  /// The place of the shard with that number; null: the queue has none.
  [[nodiscard]] const Place* find(std::uint32_t shard) const noexcept;
  [[nodiscard]] const Place& closed_home(std::string_view key, std::uint64_t secret) const;
  [[nodiscard]] const Place& open_home(std::string_view key, std::uint64_t secret) const;
};
using QueuePtr = std::shared_ptr<const QueuePlaces>;

/// The key "tarry:{3}:" + `rest`, if the partition is 3.
[[nodiscard]] std::string partition_key(std::uint32_t partition, std::string_view rest);
/// The `rest` of a key that never exists.
inline constexpr std::string_view kNothing = "rights";

/// A set of a queue's shards.
struct ShardSet {
  std::uint32_t shards = 0;
  std::string generation;
  std::uint32_t first = 0;  // the number of the first shard; the others follow

  friend bool operator==(const ShardSet&, const ShardSet&) = default;
};

/// The shards of a queue go to consecutive partitions. Where they begin depends on the queue's
/// number, so that queues are spread.
[[nodiscard]] std::vector<Place> make_places(std::string_view queue, std::uint32_t number,
                                             const ShardSet& set, std::uint32_t partitions,
                                             bool closed = false);

/// Adds 15 keys: the shard's 13 keys under the names that they had before the shard was closed,
/// then `msgs` and `due` under their closed names. If `is_closed`, the two kinds of names are
/// exchanged.
void add_both_names(net::RedisCommand& command, const Place& closed, bool is_closed = false);

/// The queue's name in a shard's name: "orders" in "orders/0", and in "orders/*" (all shards).
[[nodiscard]] std::string_view queue_of(std::string_view shard_name) noexcept;

}  // namespace tarry::redis
