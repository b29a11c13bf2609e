// KeyMap: in which shards the keys of one queue are, as of one moment.
//
// Thread safety: any thread may call any function. The arguments must outlive it.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/shard_rule.h"
#include "engines/embedded/gates/queue_homes.h"
#include "engines/embedded/store/key_route.h"
#include "engines/embedded/store/store_files.h"

namespace tarry::embedded {

class KeyMap {
 public:
  KeyMap(const StoreIdentity& store, const QueueHomes& homes, std::string_view queue)
      : store_(store), queue_(queue), route_(homes.route(queue)) {}

  [[nodiscard]] const QueueHomes::Route& route() const noexcept { return route_; }
  /// Only if the queue is at home in one shard.
  [[nodiscard]] std::uint32_t home() const noexcept {
    return core::home_of(queue_, store_.shards, store_.hash_seed);
  }
  [[nodiscard]] std::uint32_t shard_of(std::string_view key) const noexcept {
    return route_.at_home ? home() : shard_for_key(store_, queue_, key);
  }

 private:
  const StoreIdentity& store_;
  std::string_view queue_;
  QueueHomes::Route route_;
};

}  // namespace tarry::embedded
