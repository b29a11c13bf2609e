// QueueGates: the gates of a store's queues, by their names, and the homes of those that have one.
// All shards of the store share it.
//
// Thread safety: any thread may call any function.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "engines/embedded/gates/queue_gate.h"
#include "engines/embedded/gates/queue_homes.h"

namespace tarry::embedded {

class QueueGates {
 public:
  explicit QueueGates(std::uint32_t shards) : shards_(shards) {}

  /// The queue's gate, which is made if no shard has it.
  [[nodiscard]] std::shared_ptr<QueueGate> find_or_make(const std::string& queue);
  [[nodiscard]] std::uint32_t shards() const noexcept { return shards_; }
  [[nodiscard]] QueueHomes& homes() noexcept { return homes_; }

 private:
  const std::uint32_t shards_;
  std::mutex mutex_;
  std::uint64_t last_number_ = 0;
  // A gate ends when the last shard lets it go. Its entry is then used again, or removed.
  std::unordered_map<std::string, std::weak_ptr<QueueGate>> gates_;
  QueueHomes homes_;
};

}  // namespace tarry::embedded
