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
    if (queue.objective) {
      queue.objective->claimed(Time(Millis(item.due_ms)), Time(Millis(item.claimed_ms)));
    }
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

/// Null if the queue has no objective, or is not counted alone.
ObjectiveTally* LatenessMeter::tally_of(std::string_view queue, Objective objective) {
  const auto found = queues_.find(queue);
  if (objective == Objective()) {
    if (found != queues_.end()) found->second.objective.reset();
    return nullptr;
  }
  if (found == queues_.end() && queues_.size() >= kMaxMeteredQueues) return nullptr;
  Metered& one = found == queues_.end() ? queues_[std::string(queue)] : found->second;
  if (!one.objective) one.objective = std::make_unique<ObjectiveTally>();
  return one.objective.get();
}

void LatenessMeter::configured(std::string_view queue, const QueueSettings& settings) {
  const std::lock_guard lock(mutex_);
  if (auto* tally = tally_of(queue, settings.objective)) tally->set(settings.objective);
}

void LatenessMeter::observe(const QueueStats& queue, Time now) {
  const std::lock_guard lock(mutex_);
  if (auto* tally = tally_of(queue.queue, queue.settings.objective)) tally->observe(queue, now);
}

void LatenessMeter::tell(std::vector<QueueStats>& queues) const {
  const std::lock_guard lock(mutex_);
  for (QueueStats& queue : queues) {
    const auto found = queues_.find(queue.queue);
    if (found == queues_.end() || !found->second.objective) continue;
    queue.objective = found->second.objective->stats();
  }
}

std::vector<std::string> LatenessMeter::with_objective() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [queue, metered] : queues_) {
    if (metered.objective) names.push_back(queue);
  }
  return names;
}

std::map<std::string, LatenessMeter::Objectives, std::less<>> LatenessMeter::objectives() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, Objectives, std::less<>> all;
  for (const auto& [queue, metered] : queues_) {
    if (!metered.objective) continue;
    all.emplace(queue, Objectives{metered.objective->total(), metered.objective->stats().burning});
  }
  return all;
}

LatenessMeter::Lateness LatenessMeter::lateness() const {
  const std::lock_guard lock(mutex_);
  Lateness all;
  for (const auto& [queue, metered] : queues_) {
    if (metered.lateness.count() > 0) all.emplace(queue, metered.lateness);
  }
  return all;
}

}  // namespace tarry::metrics
