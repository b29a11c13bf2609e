// WaitingCount: how many claims wait at a store, and how many queues and keys they name together,
// because the waiting claims' memory depends on these numbers. A claim that waits at several shards
// counts once.
//
// Thread safe.
#pragma once

#include <cstdint>
#include <mutex>

#include "core/limits.h"
#include "core/request.h"
#include "core/rules/validation.h"

namespace tarry::core {

class WaitingCount {
 public:
  explicit WaitingCount(const Limits& limits)
      : max_claims_(limits.max_waiting_claims), max_names_(limits.max_waiting_names) {}

  /// Call `begin` before the claim waits. Error: `unavailable` if too many claims would wait. If
  /// there is no error, `end` must follow.
  [[nodiscard]] MaybeError begin(const ClaimRequest& claim);
  void end(const ClaimRequest& claim) noexcept;

 private:
  const std::uint64_t max_claims_;
  const std::uint64_t max_names_;
  std::mutex mutex_;
  std::uint64_t claims_ = 0;
  std::uint64_t names_ = 0;
};

}  // namespace tarry::core
