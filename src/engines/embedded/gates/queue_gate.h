// QueueGate: the limits of one queue, which its shards hold together. A shard asks the gate before
// it leases messages, and gives back what their leases no longer need.
//
// A shard may use a lease again that has ended in the same turn: its journal has the end before the
// new claim. Other shards get the lease only when its end is durable. Otherwise a crash could undo
// the end in one journal and keep the claim in another, and more messages would be leased than the
// limit allows.
//
// Thread safety: any thread may call any function.
//
// Invariants
//  1. `used_` is at least the number of messages that are leased in all shards that have joined.
//     Nothing is taken while it is at the limit or above.
//  2. A shard that was refused asks again when `give_back` returns it, or when `rate_next_ms` says
//     that the rate permits a claim.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <tarry/settings.h>

#include "engines/embedded/gates/group_leases.h"
#include "engines/embedded/gates/token_bucket.h"

namespace tarry::embedded {

class QueueGate {
 public:
  using Shards = GroupLeases::Shards;

  /// `number`: unique among the gates of a store that is open.
  explicit QueueGate(std::uint64_t number) : number_(number) {}

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Call `fill` before the queue's settings change: the time until then is paid at the old rate.
  void fill(std::int64_t now_ms);
  /// Call `set` when the queue's settings have changed.
  void set(const QueueSettings& settings);

  /// A shard joins with the messages that it has leased, and leaves with them.
  void join(std::uint64_t leased);
  void leave(std::uint64_t leased);

  struct Taken {
    std::uint32_t all = 0;
    std::uint32_t own = 0;  // of these, how many the shard had freed itself
  };
  /// Takes up to `most` leases. `freed`: how many the shard has freed and not yet given back. It
  /// may not use these again while another shard waits for one.
  /// `now_ms`: BOOTTIME, for the rate.
  [[nodiscard]] Taken take(std::uint32_t shard, std::uint32_t most, std::uint32_t freed,
                           std::int64_t now_ms);
  /// Gives back the tokens of `leases` that `take` gave and nobody used. The shard gives the leases
  /// themselves back later.
  void note_unused(std::uint32_t leases);
  /// True if `take` would give something. Else the shard waits for it.
  [[nodiscard]] bool has_room(std::uint32_t shard, std::uint32_t freed, std::int64_t now_ms);
  /// Returns the shards that wait; they wait no more.
  [[nodiscard]] Shards give_back(std::uint64_t leases,
                                 const std::vector<GroupLeases::Count>& groups = {});
  /// Until when the rate permits nothing; empty if it does now.
  [[nodiscard]] std::optional<std::int64_t> rate_next_ms(std::int64_t now_ms);

  /// Calls `use(leases)` with the leases of the queue's groups, behind the mutex.
  template <typename Use>
  auto with_groups(Use&& use) {
    const std::scoped_lock lock(mutex_);
    return use(groups_);
  }

 private:
  [[nodiscard]] bool others_wait(std::uint32_t shard) const noexcept;
  [[nodiscard]] std::uint64_t room(std::uint32_t shard, std::uint32_t freed,
                                   std::int64_t now_ms) noexcept;

  const std::uint64_t number_;
  std::mutex mutex_;
  std::uint64_t max_leased_ = 0;
  std::uint64_t used_ = 0;
  Shards waiting_;
  TokenBucket bucket_;
  GroupLeases groups_;
};

}  // namespace tarry::embedded
