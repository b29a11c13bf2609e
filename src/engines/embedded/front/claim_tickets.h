// ClaimTickets: the claims that a caller may withdraw, by their tickets.
//
// Thread safety: any thread may call any function.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

class ClaimTickets {
 public:
  void give(const OperationPtr& op) {
    const std::scoped_lock lock(mutex_);
    op->ticket = next_++;
    claims_.emplace(op->ticket, op);
  }
  void take_back(const Operation& op) noexcept {
    if (op.ticket == 0) return;
    const std::scoped_lock lock(mutex_);
    claims_.erase(op.ticket);
  }
  /// Null if the claim has ended.
  [[nodiscard]] OperationPtr find(core::Ticket ticket) {
    const std::scoped_lock lock(mutex_);
    const auto found = claims_.find(ticket);
    return found == claims_.end() ? nullptr : found->second.lock();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<core::Ticket, std::weak_ptr<Operation>> claims_;
  core::Ticket next_ = 1;
};

}  // namespace tarry::embedded
