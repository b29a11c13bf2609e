#include "engines/redis/claims/waiting_claims.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/claimed.h"

namespace tarry::redis {
namespace {

bool looks_for_itself(const core::ClaimRequest& request) {
  return !request.keys.empty() || !request.shards.empty();
}

}  // namespace

WaitingClaims::WaitingClaims(Alarms& alarms, const core::Limits& limits, std::size_t slice)
    : alarms_(alarms), slice_(slice), count_(limits) {}

WaitingClaims::~WaitingClaims() = default;

void WaitingClaims::begin(core::Ticket ticket, const AskedPtr& asked) {
  auto claim = std::make_shared<Claim>();
  claim->ticket = ticket;
  claim->asked = asked;
  claim->request = &std::get<core::ClaimRequest>(asked->request);
  if (claim->request->wait.count() > 0) claim->cannot_wait = count_.begin(*claim->request);
  claim->may_wait = claim->request->wait.count() > 0 && !claim->cannot_wait;
  if (claim->may_wait) {
    claims_.emplace(ticket, claim);
    claim->lists = looks_for_itself(*claim->request) ? &own_ : &shared_;
    claim->no = claim->lists->enter(claim->request->queues, claim);
  }
  begin_look(claim, claim->request->queues, kNobody);
}

void WaitingClaims::begin_look(const ClaimPtr& claim, std::vector<std::string> queues,
                               Watch watch) {
  claim->looked_from = stamp_;
  look(claim, std::move(queues), watch);
}

// -- a look has ended

void WaitingClaims::looked(const ClaimPtr& claim, const std::vector<std::string>& queues,
                           Watch watch, std::int64_t again_ms, bool found) {
  const bool ends = !claim->reply.items.empty() || claim->gone || !claim->may_wait;
  if (!ends) {
    park(claim, watch == kNobody ? queues : std::vector<std::string>(), again_ms);
  } else if (claim->cannot_wait && claim->reply.items.empty()) {
    answer(claim, *std::move(claim->cannot_wait));
  } else {
    answer(claim);
  }
  watched_look_ended(watch, *claim->request, again_ms, found);
  // This comes last: with the last claim that names a queue, the queue's state goes too.
  if (ends) leave(*claim);
}

void WaitingClaims::fail(const ClaimPtr& claim, Watch watch, Error error, std::int64_t again_ms) {
  answer(claim, std::move(error));
  watched_look_ended(watch, *claim->request, again_ms, false);
  leave(*claim);
}

void WaitingClaims::watched_look_ended(Watch watch, const core::ClaimRequest& request,
                                       std::int64_t again_ms, bool found) {
  if (watch == kNobody || !shared_.is_queue(watch)) return;
  AtQueue& at = shared_.queue(watch);
  at.looking = false;
  const bool again = std::exchange(at.again, false);
  if (found || again) return look_for_all(watch);
  look_in(shared_, watch, std::min(again_ms, longest_ms(request)));
}

void WaitingClaims::park(const ClaimPtr& claim, const std::vector<std::string>& looked_at,
                         std::int64_t again_ms) {
  if (closed_) {
    answer(claim, Error{ErrorCode::closed, "the store was closed"});
    return leave(*claim);
  }
  Lists& lists = *claim->lists;
  lists.park(claim->no);
  if (!std::exchange(claim->waited, true)) {
    for (std::size_t i = 0; i < lists.queues_of(claim->no); ++i) {
      ++lists.queue(lists.queue_of(claim->no, i)).waiting;
    }
  }
  if (claim->wait_end == 0) {
    // The claim waits no shorter than asked, though the alarm's clock and the caller's may differ
    // by a ms.
    claim->wait_end =
        alarms_.set(claim->request->wait.count(), [this, claim] { wait_has_ended(claim); });
  }
  const std::int64_t ms = std::min(again_ms, longest_ms(*claim->request));
  for (const std::string& queue : looked_at) look_in(lists, lists.find(queue), ms);
  for (std::size_t i = 0; i < lists.queues_of(claim->no); ++i) {
    const Lists::QueueNo queue = lists.queue_of(claim->no, i);
    if (lists.queue(queue).woken > claim->looked_from) claim->missed.push_back(queue);
  }
  if (!claim->missed.empty()) look_at_missed(claim);
}

// Looks again at the queues that were woken while the claim looked. It does not wake them once
// more, because then claims would wake each other for ever.
void WaitingClaims::look_at_missed(const ClaimPtr& claim) {
  std::vector<Lists::QueueNo> missed = std::exchange(claim->missed, {});
  std::ranges::sort(missed);
  missed.erase(std::unique(missed.begin(), missed.end()), missed.end());
  if (claim->lists == &own_) {
    std::vector<std::string> names;
    for (const Lists::QueueNo queue : missed) names.push_back(own_.name(queue));
    own_.unpark(claim->no);
    return begin_look(claim, std::move(names), kNobody);
  }
  while (!missed.empty()) {
    const Lists::QueueNo queue = missed.back();
    missed.pop_back();
    if (shared_.queue(queue).woken == 0) continue;  // another claim has looked since
    look_for_all(queue);
    // If the claim looks at that queue now, it stands in no list, and looks at the other queues
    // when it is parked again. Or its look has already ended, within
    // look_for_all().
    if (claim->lists == nullptr) return;
    if (shared_.is_parked(claim->no)) continue;
    claim->missed.insert(claim->missed.end(), missed.begin(), missed.end());
    return;
  }
}

void WaitingClaims::wait_has_ended(const ClaimPtr& claim) {
  claim->may_wait = false;
  claim->wait_end = 0;
  if (claim->lists == nullptr || !claim->lists->is_parked(claim->no)) return;
  answer(claim);
  leave_later(claim);
}

// -- answers

void WaitingClaims::end_wait(Claim& claim) {
  alarms_.cancel(std::exchange(claim.wait_end, 0));
  if (claims_.erase(claim.ticket) != 0) count_.end(*claim.request);
}

void WaitingClaims::answer(const ClaimPtr& claim) {
  end_wait(*claim);
  if (std::exchange(claim->gone, true)) return release(claim->reply);
  claim->asked->reply = std::move(claim->reply);
  claim->asked->complete();
}

void WaitingClaims::answer(const ClaimPtr& claim, Error error) {
  end_wait(*claim);
  if (std::exchange(claim->gone, true)) return;
  claim->asked->fail(std::move(error));
}

const std::vector<std::uint32_t>* WaitingClaims::shards_wanted(const core::ClaimRequest& request,
                                                               const std::string& queue) {
  if (request.shards.empty()) return nullptr;
  const auto found = std::ranges::find(request.queues, queue);
  const auto& wanted = request.shards[static_cast<std::size_t>(found - request.queues.begin())];
  return wanted.empty() ? nullptr : &wanted;
}

AskedPtr WaitingClaims::release_of(const core::ClaimReply& reply) {
  if (reply.items.empty()) return nullptr;
  auto asked = std::make_shared<Asked>();
  asked->request = core::release_of(reply);
  asked->completion = [](Result<core::Reply>) {};
  return asked;
}

void WaitingClaims::withdraw(core::Ticket ticket) {
  const auto found = claims_.find(ticket);
  if (found == claims_.end()) return;
  const ClaimPtr claim = found->second;
  const bool parked = claim->lists->is_parked(claim->no);
  // If the claim is still looking, the messages that it finds are released.
  end_wait(*claim);
  claim->gone = true;
  claim->asked->reply = core::ClaimReply();
  claim->asked->complete();
  if (parked) leave_later(claim);
}

void WaitingClaims::close() {
  closed_ = true;
  std::vector<ClaimPtr> parked;
  for (const auto& [ticket, claim] : claims_) {
    if (claim->lists->is_parked(claim->no)) parked.push_back(claim);
  }
  // The claims may stay in their lists, because no claim looks any more.
  for (const ClaimPtr& claim : parked) {
    answer(claim, Error{ErrorCode::closed, "the store was closed"});
  }
}

// -- out of the lists

void WaitingClaims::leave(Claim& claim) {
  Lists* lists = std::exchange(claim.lists, nullptr);
  if (lists == nullptr) return;
  if (claim.waited) {
    for (std::size_t i = 0; i < lists->queues_of(claim.no); ++i) {
      --lists->queue(lists->queue_of(claim.no, i)).waiting;
    }
  }
  lists->leave(claim.no, [this](AtQueue& queue) { alarms_.cancel(queue.alarm); });
}

void WaitingClaims::leave_later(const ClaimPtr& claim) {
  leaving_.push_back(claim);
  if (leaving_.size() == 1) alarms_.soon([this] { leave_some(); });
}

void WaitingClaims::leave_some() {
  std::size_t left = slice_;
  while (left > 0 && !leaving_.empty()) {
    Claim& claim = *leaving_.front();
    left -= std::min(left, claim.request->queues.size());
    leave(claim);
    leaving_.pop_front();
  }
  if (!leaving_.empty()) alarms_.soon([this] { leave_some(); });
}

// -- waking

void WaitingClaims::wake(std::string_view queue) {
  if (const auto no = shared_.find(queue); no != Lists::kNone) wake(shared_, no);
  if (const auto no = own_.find(queue); no != Lists::kNone) wake(own_, no);
}

void WaitingClaims::wake_all() {
  for (Lists* lists : {&shared_, &own_}) {
    for (Lists::QueueNo queue = 0; queue < lists->end_of_queues(); ++queue) {
      if (lists->is_queue(queue)) wake(*lists, queue);
    }
  }
}

void WaitingClaims::wake(Lists& lists, Lists::QueueNo queue) {
  if (closed_) return;
  lists.queue(queue).woken = ++stamp_;
  if (&lists == &own_) {
    look_each(queue);
  } else {
    look_for_all(queue);
  }
}

void WaitingClaims::look_for_all(Lists::QueueNo queue) {
  if (closed_) return;
  if (shared_.queue(queue).looking) {
    shared_.queue(queue).again = true;
    return;
  }
  for (auto at = shared_.first(queue); at != Lists::kNone;) {
    const ClaimPtr claim = shared_.claim(Lists::claim_at(std::exchange(at, shared_.next(at))));
    if (claim->gone) {  // not yet removed from its lists
      leave(*claim);
      if (!shared_.is_queue(queue)) return;
      continue;
    }
    AtQueue& there = shared_.queue(queue);
    there.woken = 0;
    alarms_.cancel(std::exchange(there.alarm, 0));
    there.looking = true;
    shared_.unpark(claim->no);
    return begin_look(claim, {shared_.name(queue)}, queue);
  }
  // Claims that look at other queues stand in no list meanwhile. They look here when they are
  // parked again.
  shared_.queue(queue).woken = ++stamp_;
}

void WaitingClaims::look_each(Lists::QueueNo queue) {
  std::vector<ClaimPtr> each;
  for (auto at = own_.first(queue); at != Lists::kNone; at = own_.next(at)) {
    each.push_back(own_.claim(Lists::claim_at(at)));
  }
  const std::string name = own_.name(queue);
  for (const ClaimPtr& claim : each) {
    if (claim->lists == nullptr || !own_.is_parked(claim->no)) continue;
    if (claim->gone) {
      leave(*claim);
      continue;
    }
    own_.unpark(claim->no);
    begin_look(claim, {name}, kNobody);
  }
}

void WaitingClaims::look_in(Lists& lists, Lists::QueueNo queue, std::int64_t ms) {
  if (ms == INT64_MAX || closed_) return;
  AtQueue& there = lists.queue(queue);
  ms = std::max<std::int64_t>(ms, 0);
  const std::int64_t at = alarms_.now_us() + ms * 1000;
  if (there.alarm != 0 && there.alarm_us <= at) return;
  alarms_.cancel(there.alarm);
  there.alarm_us = at;
  there.alarm = alarms_.set(ms, [this, &lists, queue] {
    lists.queue(queue).alarm = 0;
    wake(lists, queue);
  });
}

// -- questions

std::uint64_t WaitingClaims::waiting_at(const std::string& queue) const {
  std::uint64_t count = 0;
  for (const Lists* lists : {&shared_, &own_}) {
    const auto no = lists->find(queue);
    if (no == Lists::kNone) continue;
    if (leaving_.empty()) {
      count += lists->queue(no).waiting;
      continue;
    }
    for (auto at = lists->first(no); at != Lists::kNone; at = lists->next(at)) {
      count += lists->claim(Lists::claim_at(at))->gone ? 0 : 1;
    }
  }
  return count;
}

std::size_t WaitingClaims::watched() const {
  std::set<std::string_view> names;
  for (const Lists* lists : {&shared_, &own_}) {
    for (Lists::QueueNo queue = 0; queue < lists->end_of_queues(); ++queue) {
      if (lists->is_queue(queue)) names.insert(lists->name(queue));
    }
  }
  return names.size();
}

std::vector<std::string> WaitingClaims::waited_queues() const {
  std::set<std::string_view> names;
  for (const Lists* lists : {&shared_, &own_}) {
    for (Lists::QueueNo queue = 0; queue < lists->end_of_queues(); ++queue) {
      if (lists->is_queue(queue) && lists->parked_at(queue) > 0) names.insert(lists->name(queue));
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace tarry::redis
