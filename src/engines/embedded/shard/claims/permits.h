// Permits: how many messages of one queue a claim may lease, by the limits of the queue. What it
// does not use is given back with the turn.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>

#include "engines/embedded/shard/context/shard_context.h"

namespace tarry::embedded {

class Permits {
 public:
  /// `most`: how many the claim could take without limits.
  Permits(ShardContext& shard, QueueId queue, std::uint64_t most);
  ~Permits();
  Permits(const Permits&) = delete;
  Permits& operator=(const Permits&) = delete;

  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  void use() noexcept { --left_; }

 private:
  ShardState& state_;
  QueueId queue_;
  std::uint64_t left_;
};

/// GroupLease: whether a claim may lease one message by the limit of its group. If it may not, its
/// group leaves the turn until leases of the group are given back. The destructor frees a lease
/// that the claim has not used; the shard gives it back at the end of its turn.
class GroupLease {
 public:
  GroupLease(ShardContext& shard, QueueState& queue, Handle handle);
  ~GroupLease();
  GroupLease(const GroupLease&) = delete;
  GroupLease& operator=(const GroupLease&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return permits_; }
  void use() noexcept { group_ = nullptr; }

 private:
  GroupTurns* turns_ = nullptr;
  Group* group_ = nullptr;  // null: nothing to give back
  bool permits_ = true;
};

/// Whether the limit of the message's group lets a claim take it. If not, the shard is told when it
/// does.
[[nodiscard]] bool group_has_room(const ShardContext& shard, QueueState& queue, Handle handle);

/// Whether the limits of the queue as a whole let a claim take a message now. If not, the shard is
/// told when they do.
[[nodiscard]] bool has_queue_room(const ShardContext& shard, const QueueState& queue);

/// Whether all limits of the queue, and the order in its groups, let a claim take a ready message
/// now. If not, the shard is told when they do. Groups at their limit leave the turn.
[[nodiscard]] bool has_room(const ShardContext& shard, QueueState& queue);

}  // namespace tarry::embedded
