// Flow: what the store's and the sink's answers change. What follows from it is in flow.cpp.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/limits.h"
#include "leases/settlement.h"
#include "relay/flow.h"

namespace tarry::relay {
namespace {

constexpr Millis kLeastPause{1};
constexpr Millis kMostPause{1'000};
/// Bytes of a reply that its messages may share until the last of them has gone.
constexpr std::size_t kMostShared = 64 * 1024;

bool is_passing(const Error& error) noexcept {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::unknown_outcome ||
         error.code == ErrorCode::no_space;
}

/// A reply of its i-th message.
std::shared_ptr<const core::ClaimReply> alone(const core::ClaimReply& all, std::size_t i) {
  auto one = std::make_shared<core::ClaimReply>();
  core::ClaimedItem& item = one->items.emplace_back(all.items[i]);
  one->bytes.reserve(std::size_t{item.queue.size} + item.key.size + item.payload.size +
                     item.headers.size + item.receipt.size);
  for (core::Slice* piece : {&item.queue, &item.key, &item.payload, &item.headers, &item.receipt}) {
    *piece = core::append(one->bytes, core::view(all.bytes, *piece));
  }
  return one;
}

/// What an engine that comes up short has said of the rest.
core::ItemResult not_answered() {
  core::ItemResult item;
  item.error = Error{ErrorCode::unknown_outcome, "the store did not answer for this item"};
  return item;
}

}  // namespace

// -- the store

void Flow::claimed(Result<std::shared_ptr<const core::ClaimReply>> reply, Moment now) {
  const std::uint32_t asked = std::exchange(claiming_, 0);
  const std::size_t got = reply ? (*reply)->items.size() : 0;
  rate_.give_back(asked - std::min(asked, static_cast<std::uint32_t>(got)));
  if (!reply) {
    if (may_try_again(reply.error(), now)) claim_at_ = now + claim_backoff_.next();
    return;
  }
  claim_backoff_.reset();
  outage_.reset();
  stats_.claimed += got;
  // Its messages go one by one, and the memory of a large reply must not stay until the last has.
  const bool shared = got <= 1 || (*reply)->bytes.size() <= kMostShared;
  Moment begun = now;
  if ((*reply)->begun_at) {
    begun = std::min(now, std::chrono::floor<Moment>((*reply)->begun_at->time_since_epoch()));
  }
  for (std::size_t i = 0; i < got; ++i) {
    Held held{Delivery(shared ? *reply : alone(**reply, i), shared ? i : 0), now, {}, {}};
    const Millis lease = held.delivery.lease();
    held.lease = std::make_shared<LeaseEnd>(now);
    hold_until(held, begun + lease);
    held.extend_at = begun + std::max(lease / 3, kLeastPause);
    // Asked for before the breaker opened.
    const bool unwanted = breaker_.state() == BreakerState::open ||
                          (breaker_.state() == BreakerState::half_open && !held_.empty());
    // The answer was under way for so long that another may have it by now.
    const bool over = held.lease_end <= now;
    if (over) stats_.last_error = too_late().reason;
    if (stopped_at_ || unwanted || over) {
      end(std::move(held), core::SettleAction::release, {});
      continue;
    }
    extend_at_ = std::min(extend_at_.value_or(held.extend_at), held.extend_at);
    held_bytes_ += held.delivery.payload().size();
    to_hand_on_.jobs.push_back({next_job_, held.delivery, held.lease});
    held_.emplace(next_job_++, std::move(held));
  }
}

void Flow::serve(std::vector<Share> shares) {
  if (shares_ == shares) return;
  if (first_share_ < shares_.size()) {
    const auto next =
        std::ranges::lower_bound(shares, shares_[first_share_].queue, {}, &Share::queue);
    first_share_ = next == shares.end() ? 0 : static_cast<std::size_t>(next - shares.begin());
  }
  shares_ = std::move(shares);
  outdated_ = claiming_ > 0;
}

void Flow::settled(const Result<core::ItemsReply>& reply, Moment now) {
  std::vector<Ending> sent = std::exchange(settling_, {});
  if (!reply) {
    if (!may_try_again(reply.error(), now)) {
      stats_.stale += sent.size();
      return;
    }
    outbox_.insert(outbox_.begin(), std::make_move_iterator(sent.begin()),
                   std::make_move_iterator(sent.end()));
    settle_at_ = now + settle_backoff_.next();
    return;
  }
  settle_backoff_.reset();
  outage_.reset();
  const core::ItemResult missing = not_answered();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    settle_item(std::move(sent[i]), i < reply->items.size() ? reply->items[i] : missing, now);
  }
}

void Flow::settle_item(Ending ending, const core::ItemResult& answer, Moment now) {
  if (answer.error && is_passing(*answer.error)) {
    outbox_.push_back(std::move(ending));
    // Once a batch, not once an item of it.
    if (settle_at_ <= now) settle_at_ = now + settle_backoff_.next();
    return;
  }
  if (answer.error || answer.outcome != Outcome::done) {
    ++stats_.stale;
    if (answer.error) count(Mishap::unsettled, answer.error->message);
    return;
  }
  switch (ending.action) {
    case core::SettleAction::ack: ++stats_.acked; break;
    case core::SettleAction::retry: ++stats_.retried; break;
    case core::SettleAction::bury: ++stats_.buried; break;
    case core::SettleAction::release:
    case core::SettleAction::move_away: ++stats_.released; break;
  }
}

void Flow::extended(const Result<core::ItemsReply>& reply, Moment now) {
  const std::vector<JobId> sent = std::exchange(extending_, {});
  core::ItemResult missing = not_answered();
  if (!reply && !may_try_again(reply.error(), now)) missing.error = reply.error();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto held = held_.find(sent[i]);
    // Answered meanwhile: whatever is said here is about a claim that has ended.
    if (held == held_.end()) continue;
    extend_item(held->second, now, reply && i < reply->items.size() ? reply->items[i] : missing);
  }
}

void Flow::hold_until(Held& held, Moment end) noexcept {
  held.lease_end = end;
  held.lease->move(end);
}

void Flow::extend_item(Held& held, Moment now, const core::ItemResult& answer) {
  const Millis lease = held.delivery.lease();
  if (answer.error && is_passing(*answer.error)) {
    // Often enough to get through before the lease runs out, if the store comes back at all.
    held.extend_at = now + std::clamp(lease / 10, kLeastPause, kMostPause);
  } else if (!answer.error && answer.outcome == Outcome::done) {
    hold_until(held, extend_sent_ + lease);
    held.extend_at = extend_sent_ + std::max(lease / 3, kLeastPause);
  } else {
    // Refused is not lost: the claim holds as long as it was granted.
    held.extendable = false;
    held.lost = !answer.error;
    if (held.lost) held.lease->lose();
    return;
  }
  extend_at_ = std::min(extend_at_.value_or(held.extend_at), held.extend_at);
}

// -- the sink

void Flow::answered(JobId id, Answer answer, Moment now) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  Held held = std::move(found->second);
  held_.erase(found);
  held_bytes_ -= held.delivery.payload().size();
  if (!answer.reason.empty()) stats_.last_error = leases::fit_reason(answer.reason);
  const bool was_open = breaker_.state() == BreakerState::open;
  switch (answer.fate) {
    case Fate::confirmed:
      ++stats_.confirmed;
      stats_.lag = held.delivery.lateness() + (now - held.claimed_at);
      stats_.lags.record(stats_.lag);
      breaker_.worked();
      end(std::move(held), core::SettleAction::ack, {});
      return;
    case Fate::refused:
      count(Mishap::refused, answer.reason);
      breaker_.worked();
      end(std::move(held), core::SettleAction::bury, std::move(answer));
      return;
    case Fate::down:
      if (!stopped_at_) breaker_.down(now);
      end(std::move(held), core::SettleAction::release, {});
      return;
    case Fate::late: end(std::move(held), core::SettleAction::release, {}); return;
    case Fate::again:
    case Fate::not_yet:
    case Fate::unknown:
      ++stats_.failed;
      count(Mishap::failed, answer.reason);
      if (answer.fate == Fate::not_yet) {
        breaker_.answered();
      } else {
        breaker_.failed(held.delivery.id(), now);
      }
      // The sink fails everybody; what surely did not arrive keeps its attempt, unless the sink
      // said when to come again: what is released is due at once. A trial's failure counts: or a
      // message that always fails would be the next trial too, for ever.
      end(std::move(held),
          was_open && answer.fate != Fate::unknown && !answer.after ? core::SettleAction::release
                                                                    : core::SettleAction::retry,
          std::move(answer));
      return;
  }
}

void Flow::count(Mishap mishap, const std::string& reason) {
  Mishaps& all = mishaps_[static_cast<std::size_t>(mishap)];
  ++all.count;
  all.reason = leases::fit_reason(reason);
}

void Flow::end(Held held, core::SettleAction action, Answer answer) {
  if (held.lost) {
    ++stats_.stale;
    return;
  }
  Ending ending{std::string(held.delivery.receipt()), action, {}, {}, held.lease_end};
  const auto most = options_.max_attempts;
  if (action == core::SettleAction::retry && most && held.delivery.attempt() >= *most) {
    ending.action = core::SettleAction::bury;
  }
  const bool is_retry = ending.action == core::SettleAction::retry;
  if (is_retry || ending.action == core::SettleAction::bury) {
    ending.reason = leases::fit_reason(answer.reason);
  }
  if (is_retry && answer.after) {
    ending.delay = std::clamp(*answer.after, Millis(0), Millis(core::kMaxDelayMs));
  }
  outbox_.push_back(std::move(ending));
}

// -- ends

void Flow::stop(Moment now) { fail({}, now); }

bool Flow::may_try_again(const Error& error, Moment now) {
  if (is_passing(error)) {
    outage_ = error;
    return true;
  }
  fail(error.code == ErrorCode::closed ? std::nullopt : std::optional<Error>(error), now);
  return false;
}

void Flow::fail(std::optional<Error> error, Moment now) {
  if (error && !error_) error_ = std::move(error);
  if (!stopped_at_) stopped_at_ = now;
}

}  // namespace tarry::relay
