#include "engines/embedded/shard/requests/waiting_claims.h"

#include <algorithm>

#include "core/request.h"

namespace tarry::embedded {
namespace {

const core::ClaimRequest& request_of(const Operation& op) {
  return std::get<core::ClaimRequest>(op.request);
}

}  // namespace

void WaitingClaims::add(const OperationPtr& op) {
  const core::ClaimRequest& request = request_of(*op);
  const Lists::ClaimNo no = lists_.enter(request.queues, {op, ++last_number_});
  lists_.park(no);
  numbers_.emplace(op.get(), no);
  deadlines_.emplace(op->wait_until_boot_ms, no);
  if (!request.keys.empty()) {
    ++by_key_;
    ++lists_.queue(lists_.queue_of(no, 0)).by_key;
  }
  for (std::size_t i = 0; i < lists_.queues_of(no); ++i) wake_one(lists_.queue_of(no, i));
}

void WaitingClaims::note_ended(const Operation* op) {
  if (const auto found = numbers_.find(op); found != numbers_.end()) note_ended(found->second);
}

void WaitingClaims::note_ended(Lists::ClaimNo no) {
  Waiting& waiting = lists_.claim(no);
  waiting.ended = true;
  numbers_.erase(waiting.op.get());
  deadlines_.erase({waiting.op->wait_until_boot_ms, no});
  ended_.emplace_back(no, waiting.number);
}

void WaitingClaims::drop_ended(std::size_t& budget) {
  while (budget > 0 && !ended_.empty()) {
    const auto [no, number] = ended_.front();
    ended_.pop_front();
    if (!lists_.is_in(no) || lists_.claim(no).number != number) continue;  // removed meanwhile
    budget -= std::min(budget, lists_.queues_of(no));
    remove_claim(no);
  }
}

void WaitingClaims::clear() {
  lists_.clear();
  numbers_.clear();
  deadlines_.clear();
  ended_.clear();
  woken_.clear();
  held_.clear();
  by_key_ = 0;
}

std::uint64_t WaitingClaims::waiting_at(std::string_view queue) const {
  const QueueNo no = lists_.find(queue);
  if (no == kNone) return 0;
  if (ended_.empty()) return lists_.parked_at(no);
  std::uint64_t count = 0;
  for (Place at = lists_.first(no); at != kNone; at = lists_.next(at)) {
    const auto phase = operation(at)->phase.load(std::memory_order_acquire);
    count += phase == ClaimPhase::waiting ? 1 : 0;
  }
  return count;
}

void WaitingClaims::wake_waiting(std::string_view queue) {
  if (const QueueNo no = lists_.find(queue); no != kNone) wake_one(no);
}

void WaitingClaims::wake_one(QueueNo queue) {
  if (!std::exchange(lists_.queue(queue).woken, true)) woken_.push_back(queue);
}

WaitingClaims::QueueNo WaitingClaims::next_woken() {
  while (!woken_.empty()) {
    const QueueNo queue = woken_.front();
    woken_.pop_front();
    // The number may belong to another queue by now. Then that queue is looked at in vain, once.
    if (lists_.is_queue(queue) && std::exchange(lists_.queue(queue).woken, false)) return queue;
  }
  return kNone;
}

void WaitingClaims::wake_again_first(QueueNo queue) {
  if (!lists_.is_queue(queue) || std::exchange(lists_.queue(queue).woken, true)) return;
  woken_.push_front(queue);
}

std::size_t WaitingClaims::remove(Place place) {
  const Lists::ClaimNo no = Lists::claim_at(place);
  const std::size_t queues = lists_.queues_of(no);
  remove_claim(no);
  return queues;
}

void WaitingClaims::remove_claim(Lists::ClaimNo no) {
  const Waiting& waiting = lists_.claim(no);
  if (!waiting.ended) {
    numbers_.erase(waiting.op.get());
    deadlines_.erase({waiting.op->wait_until_boot_ms, no});
  }
  if (!request_of(*waiting.op).keys.empty()) {
    --by_key_;
    --lists_.queue(lists_.queue_of(no, 0)).by_key;
  }
  lists_.leave(no);
}

void WaitingClaims::hold(QueueNo queue) {
  if (lists_.is_queue(queue) && !std::exchange(lists_.queue(queue).held, true)) {
    held_.push_back(queue);
  }
}

}  // namespace tarry::embedded
