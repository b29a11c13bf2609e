#include "engines/redis/place.h"

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

QueuePtr make_places(std::string_view queue, std::uint32_t number, std::uint32_t shards,
                     std::string_view generation, std::uint32_t partitions) {
  auto places = std::make_shared<QueuePlaces>();
  places->name = queue;
  places->number = number;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    Place place;
    place.queue = queue;
    place.number = number;
    place.shard = shard;
    place.partition = (number + shard) % partitions;
    place.generation = generation;
    place.name = std::string(queue) + "/" + std::to_string(shard);
    place.channel = partition_key(place.partition, "wake");
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      place.keys[i] = partition_key(place.partition, place.name + ":" + std::string(kParts[i]));
    }
    place.keys[kParts.size()] = partition_key(place.partition, "heads");
    place.keys[kParts.size() + 1] = partition_key(place.partition, "agenda");
    places->shards.push_back(std::move(place));
  }
  return places;
}

std::string_view queue_of(std::string_view shard_name) noexcept {
  return shard_name.substr(0, shard_name.rfind('/'));
}

}  // namespace tarry::redis
