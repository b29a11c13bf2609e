// GroupLeases: how many messages of each group of a queue are leased, over all shards, and which
// shards wait for a lease of a group. Groups without leases are not kept.
//
// Thread safety: none; its gate has the mutex.
//
// Invariants
//  1. A group's count is at least the number of its leased messages in all shards that have joined.
//     Nothing is taken while it is at the limit or above.
//  2. A shard that was refused asks again when `take_woken` names the group.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/limits.h"

namespace tarry::embedded {

class GroupLeases {
 public:
  using Shards = std::bitset<core::kMaxShards>;

  struct Count {
    std::string group;
    std::uint64_t leases = 0;
  };
  enum class Taken : std::uint8_t {
    refused,
    shared,  // a lease that was free
    own,     // one that the shard had freed itself
  };

  void set_limit(std::uint64_t limit) noexcept { limit_ = limit; }
  void join(const std::vector<Count>& counts);
  void leave(const std::vector<Count>& counts);

  /// `freed`: how many of the group's leases the shard has freed and not yet given back. It may not
  /// use these again while another shard waits for one.
  [[nodiscard]] Taken take(const std::string& group, std::uint32_t shard, std::uint32_t freed);
  /// True if `take` would give one. Else the shard waits for it.
  [[nodiscard]] bool has_room(const std::string& group, std::uint32_t shard, std::uint32_t freed);
  /// Returns the shards that waited for one of these groups. `take_woken` tells them which.
  [[nodiscard]] Shards give_back(const std::vector<Count>& counts);
  [[nodiscard]] std::vector<std::string> take_woken(std::uint32_t shard);
  [[nodiscard]] std::uint64_t of(const std::string& group) const;

 private:
  struct Use {
    std::uint64_t leases = 0;
    Shards waiting;
  };
  using Uses = std::unordered_map<std::string, Use>;

  [[nodiscard]] bool permits(const Use& use, std::uint32_t shard,
                             std::uint32_t freed) const noexcept;
  void lower(Uses::iterator use, std::uint64_t leases);

  std::uint64_t limit_ = 0;  // 0: none
  Uses uses_;
  std::map<std::uint32_t, std::vector<std::string>> woken_;  // by shard
};

}  // namespace tarry::embedded
