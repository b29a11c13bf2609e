// Where a queue's shards live: which partition, under which keys.
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

namespace tarry::redis {

/// One shard of a queue.
struct Place {
  static constexpr std::size_t kKeys = 13;

  std::string queue;
  std::uint32_t number = 0;  // the queue's
  std::uint32_t shard = 0;
  std::uint32_t partition = 0;
  std::string generation;
  std::string name;                     // in heads, agenda and wake-ups: "orders/0"
  std::string channel;                  // the partition's
  std::array<std::string, kKeys> keys;  // in the order of scripts/prelude.lua
};

/// A queue as the store knows it, at one generation of its shards. Immutable once made.
struct QueuePlaces {
  std::string name;
  std::uint32_t number = 0;
  std::vector<Place> shards;  // at least one
};
using QueuePtr = std::shared_ptr<const QueuePlaces>;

/// "tarry:{3}:" and what follows.
[[nodiscard]] std::string partition_key(std::uint32_t partition, std::string_view rest);

/// Queues are spread by their numbers: the shards of one go to partitions that follow each other.
[[nodiscard]] QueuePtr make_places(std::string_view queue, std::uint32_t number,
                                   std::uint32_t shards, std::string_view generation,
                                   std::uint32_t partitions);

/// Of "orders/0", and "orders/*" for all shards: the queue.
[[nodiscard]] std::string_view queue_of(std::string_view shard_name) noexcept;

}  // namespace tarry::redis
