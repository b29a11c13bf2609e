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

/// Whether the limits of the queue let a claim take a message now. If not, the shard is told when
/// they do.
[[nodiscard]] bool has_room(const ShardContext& shard, const QueueState& queue);

}  // namespace tarry::embedded
