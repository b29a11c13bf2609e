#include "metrics/lateness_meter.h"

#include <algorithm>

namespace tarry::metrics {

LatenessMeter::LatenessMeter(core::Engine& engine)
    : engine_(&engine),
      token_(
          engine.claim_watches().add([this](const core::ClaimReply& reply) { claimed(reply); })) {}

LatenessMeter::~LatenessMeter() {
  if (engine_ != nullptr) engine_->claim_watches().remove(token_);
}

core::LatenessHistogram& LatenessMeter::lateness_of(std::string_view queue) {
  const auto found = lateness_.find(queue);
  if (found != lateness_.end()) return found->second;
  if (lateness_.size() >= kMaxMeteredQueues) queue = kOtherQueues;
  return lateness_[std::string(queue)];
}

void LatenessMeter::claimed(const core::ClaimReply& reply) {
  const std::lock_guard lock(mutex_);
  for (const core::ClaimedItem& item : reply.items) {
    if (item.attempt != 1) continue;
    lateness_of(core::view(reply.bytes, item.queue)).record(Millis(item.claimed_ms - item.due_ms));
  }
}

void LatenessMeter::forget_all_but(const std::vector<QueueStats>& queues) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lateness_, [&](const auto& entry) {
    return entry.first != kOtherQueues &&
           !std::ranges::binary_search(queues, entry.first, {}, &QueueStats::queue);
  });
}

LatenessMeter::Lateness LatenessMeter::lateness() const {
  const std::lock_guard lock(mutex_);
  return lateness_;
}

}  // namespace tarry::metrics
