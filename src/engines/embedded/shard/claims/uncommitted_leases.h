// UncommittedLeases: the leases of claims that are not known to be durable. Before its claim is
// durable, a lease is worth nothing, because no client has the messages yet.
//
// Thread safety: none, the shard's thread; except for Durable, which the committer's thread calls.
//
// Invariants
//  1. The lease of a claim begins at the time when the claim became durable, but never before the
//     time when it was decided.
//  2. A lease does not run out before its claim is durable: `hold` moves its end.
//  3. A message whose claim has ended, or that was claimed again since, is not touched.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engines/embedded/reading/reply_reader.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

class UncommittedLeases {
  struct Start {
    std::uint64_t number = 0;
    std::int64_t boot_ms = 0;
  };
  struct Starts {
    std::mutex mutex;
    std::vector<Start> done;
  };

 public:
  /// Called once, when one claim has become durable. May outlive the leases.
  class Durable {
   public:
    void operator()(std::int64_t boot_ms) const;

   private:
    friend class UncommittedLeases;
    Durable(std::shared_ptr<Starts> starts, std::uint64_t number)
        : starts_(std::move(starts)), number_(number) {}

    std::shared_ptr<Starts> starts_;
    std::uint64_t number_;
  };

  explicit UncommittedLeases(ShardState& state) : state_(&state) {}

  /// Adds a claim of at least one message, which was decided at `now_boot_ms`.
  [[nodiscard]] Durable add(const Grants& grants, std::int64_t now_boot_ms);
  /// Begins the leases of claims that have become durable since the last call.
  void start();
  /// If a lease would run out by now although its claim is not durable yet, starts the lease again.
  /// If such a lease ran out, its message might be delivered twice at the same time, or become dead
  /// before any client had it.
  void hold(std::int64_t now_boot_ms);

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Claim {
    std::vector<std::pair<Handle, std::uint32_t>> claims;  // handle, claim number
    std::int64_t decided_boot_ms = 0;
    std::int64_t first_end_boot_ms = 0;  // no lease of the claim ends before
    bool is_committed = false;
  };

  template <typename F>
  void each_leased(const Claim& claim, F&& f);

  ShardState* state_;
  std::shared_ptr<Starts> starts_ = std::make_shared<Starts>();
  std::deque<Claim> claims_;
  std::uint64_t first_ = 0;             // the number of claims_.front()
  std::int64_t hold_boot_ms_ = kNever;  // no lease of claims_ ends before
};

}  // namespace tarry::embedded
