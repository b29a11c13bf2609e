// GatedQueues: which queues of a shard have a gate, and which of their leases have ended since the
// shard last gave leases back.
//
// Thread safety: none; the shard's thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tarry/settings.h>

#include "engines/embedded/gates/queue_gates.h"
#include "engines/embedded/state/lanes/group_turns.h"

namespace tarry::embedded {

/// A queue's part of it.
struct AtGate {
  std::shared_ptr<QueueGate> gate;  // null: the queue has no limits
  std::uint32_t freed = 0;          // leases to give back
  bool noted = false;               // is among the queues that have freed leases
  bool counts_groups = false;       // the gate counts the leases of its groups, too

  [[nodiscard]] bool is_limited() const noexcept { return gate != nullptr; }
};

class GatedQueues {
 public:
  /// Call `open` when the shard's state is complete. Until then no queue gets a gate.
  void open(std::shared_ptr<QueueGates> gates) { gates_ = std::move(gates); }
  [[nodiscard]] bool is_open() const noexcept { return gates_ != nullptr; }
  /// How many shards use the gates.
  [[nodiscard]] std::uint32_t shards() const noexcept { return gates_->shards(); }
  [[nodiscard]] bool is_alone() const noexcept { return shards() == 1; }
  [[nodiscard]] QueueHomes& homes() const noexcept { return gates_->homes(); }

  /// Gives the queue a gate, or takes it away, as its settings say. `leased`: its leased messages.
  /// `groups`: null if it has none.
  void fit(std::uint32_t queue, const std::string& name, const QueueSettings& settings,
           std::uint64_t leased, GroupTurns* groups, AtGate& at);
  /// The queue is about to be removed.
  void drop(std::uint32_t queue, std::uint64_t leased, GroupTurns* groups, AtGate& at);
  /// A lease of the queue, which has a gate, has ended or was not used.
  void note_freed(std::uint32_t queue, AtGate& at, std::uint32_t leases = 1) noexcept {
    if (leases != 0 && !at.noted) freed_.push_back(queue);  // has room: see `fit`
    if (leases != 0) at.noted = true;
    at.freed += leases;
  }
  /// The shard leases so many of them again.
  static void use_freed(AtGate& at, std::uint32_t leases) noexcept { at.freed -= leases; }
  /// The queues that may have freed leases. Returns them once; call `take_leases` for each.
  [[nodiscard]] std::vector<std::uint32_t> take_freed();
  [[nodiscard]] static std::uint32_t take_leases(AtGate& at) noexcept {
    at.noted = false;
    return std::exchange(at.freed, 0);
  }
  [[nodiscard]] bool any_freed() const noexcept { return !freed_.empty(); }
  /// The queue that has the gate; kNone if it has none any more.
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  [[nodiscard]] std::uint32_t queue_of(std::uint64_t gate) const;

 private:
  static void count_groups(bool wanted, GroupTurns* groups, AtGate& at);

  std::shared_ptr<QueueGates> gates_;
  std::map<std::uint64_t, std::uint32_t> queues_;  // by the numbers of their gates
  std::vector<std::uint32_t> freed_;
};

}  // namespace tarry::embedded
