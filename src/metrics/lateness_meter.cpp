#include "metrics/lateness_meter.h"

#include <algorithm>

#include "core/claimed.h"

namespace tarry::metrics {

LatenessMeter::LatenessMeter(core::Engine& engine)
    : engine_(&engine),
      token_(
          engine.claim_watches().add([this](const core::ClaimReply& reply) { claimed(reply); })) {}

LatenessMeter::~LatenessMeter() {
  if (engine_ != nullptr) engine_->claim_watches().remove(token_);
}

LatenessMeter::Metered& LatenessMeter::metered(std::string_view queue) {
  const auto found = queues_.find(queue);
  if (found != queues_.end()) return found->second;
  if (queues_.size() >= kMaxMeteredQueues) queue = kOtherQueues;
  return queues_[std::string(queue)];
}

void LatenessMeter::claimed(const core::ClaimReply& reply) {
  const std::lock_guard lock(mutex_);
  ++replies_;
  for (const core::ClaimedItem& item : reply.items) {
    const auto late = core::lateness_ms(item);
    if (!late) continue;
    Metered& queue = metered(core::view(reply.bytes, item.queue));
    queue.lateness.record(Millis(*late));
    queue.last_reply = replies_;
  }
}

std::uint64_t LatenessMeter::replies() const {
  const std::lock_guard lock(mutex_);
  return replies_;
}

void LatenessMeter::forget_all_but(const std::vector<QueueStats>& queues, std::uint64_t replies) {
  const std::lock_guard lock(mutex_);
  std::erase_if(queues_, [&](const auto& entry) {
    return entry.first != kOtherQueues && entry.second.last_reply <= replies &&
           !std::ranges::binary_search(queues, entry.first, {}, &QueueStats::queue);
  });
}

LatenessMeter::Lateness LatenessMeter::lateness() const {
  const std::lock_guard lock(mutex_);
  Lateness all;
  for (const auto& [queue, metered] : queues_) all.emplace(queue, metered.lateness);
  return all;
}

}  // namespace tarry::metrics
