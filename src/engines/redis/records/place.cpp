#include "engines/redis/records/place.h"

#include <algorithm>

#include "core/shard_rule.h"

namespace tarry::redis {
namespace {

// In the order of scripts/prelude.lua; the last two are the partition's.
constexpr std::array<std::string_view, Place::kKeys - 2> kParts = {
    "meta", "msgs", "due", "odd", "ready", "leased", "claims", "leases", "past", "dead", "done"};

}  // namespace

std::string partition_key(std::uint32_t partition, std::string_view rest) {
  std::string key = "tarry:{" + std::to_string(partition) + "}:";
  key += rest;
  return key;
}

std::vector<Place> make_places(std::string_view queue, std::uint32_t number, const ShardSet& set,
                               std::uint32_t partitions, bool closed) {
  std::vector<Place> places(set.shards);
  for (std::uint32_t i = 0; i < set.shards; ++i) {
    Place& place = places[i];
    place.queue = queue;
    place.number = number;
    place.shard = set.first + i;
    place.partition = (number + place.shard) % partitions;
    place.generation = set.generation;
    place.closed = closed;
    place.name = std::string(queue) + "/" + std::to_string(place.shard);
    place.channel = partition_key(place.partition, "wake");
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      std::string name = place.name + ":" + std::string(kParts[part]);
      if (closed && (part == Place::kMsgs || part == Place::kDue)) name += ".closed";
      place.keys[part] = partition_key(place.partition, name);
    }
    place.keys[kParts.size()] = partition_key(place.partition, "heads");
    place.keys[kParts.size() + 1] = partition_key(place.partition, "agenda");
  }
  return places;
}

const Place* QueuePlaces::find(std::uint32_t shard) const noexcept {
  for (const Place& place : shards) {
    if (place.shard == shard) return &place;
  }
  return nullptr;
}

bool QueuePlaces::is_in_one_slot() const noexcept {
  return std::ranges::all_of(
      shards, [this](const Place& place) { return place.partition == shards[0].partition; });
}

const Place& QueuePlaces::closed_home(std::string_view key, std::uint64_t secret) const {
  return shards[core::shard_of(name, key, closed, secret)];
}

const Place& QueuePlaces::open_home(std::string_view key, std::uint64_t secret) const {
  return shards[closed + core::shard_of(name, key, open(), secret)];
}

void add_both_names(net::RedisCommand& command, const Place& closed, bool is_closed) {
  const auto before = [&](std::size_t part) {
    return partition_key(closed.partition, closed.name + ":" + std::string(kParts[part]));
  };
  command.add(static_cast<std::int64_t>(Place::kKeys + 2));
  for (std::size_t i = 0; i < Place::kKeys; ++i) {
    const bool has_two = i == Place::kMsgs || i == Place::kDue;
    command.key(has_two && !is_closed ? before(i) : closed.keys[i]);
  }
  for (const std::size_t part : {Place::kMsgs, Place::kDue}) {
    command.key(is_closed ? before(part) : closed.keys[part]);
  }
}

std::string_view queue_of(std::string_view shard_name) noexcept {
  return shard_name.substr(0, shard_name.rfind('/'));
}

}  // namespace tarry::redis
