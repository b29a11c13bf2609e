#include "leases/book.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"

namespace tarry::leases {
namespace {

/// How long a claim waits for messages. It is long, because waiting costs nothing. It is not
/// endless, because a connection that died unnoticed would keep its owner idle for ever.
constexpr Millis kClaimWait{20'000};

constexpr std::size_t kSettleBatch = 1'000;
/// The most settlements that may wait for the store; above it the book claims nothing.
constexpr std::size_t kMaxOutbox = 10'000;
/// How long a settlement is repeated after a stop.
constexpr Millis kSettlePatience{10'000};

constexpr Millis kLeastPause{1};
constexpr Millis kMostPause{1'000};

/// The answer to the i-th item; `missing` if the reply ends before it.
const core::ItemResult& answer_to(std::size_t i, const Result<core::ItemsReply>& reply,
                                  const core::ItemResult& missing) {
  return reply && i < reply->items.size() ? reply->items[i] : missing;
}

core::ItemResult not_answered() {
  core::ItemResult item;
  item.error = Error{ErrorCode::unknown_outcome, "the store did not answer for this item"};
  return item;
}

Moment third_of(Millis lease) { return std::max(lease / 3, kLeastPause); }

void keep_earlier(std::optional<Moment>& kept, Moment other) noexcept {
  kept = std::min(kept.value_or(other), other);
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) noexcept {
  for (const auto count : {&Counts::acked, &Counts::retried, &Counts::buried, &Counts::released,
                           &Counts::stale, &Counts::refused, &Counts::run_out}) {
    this->*count += other.*count;
  }
  return *this;
}

// -- requests to send

bool Book::may_claim() const noexcept {
  return !stopped_at_ && claiming_ == 0 && outbox_.size() < kMaxOutbox;
}

std::optional<core::ClaimRequest> Book::claim(std::uint32_t most, Moment now) {
  if (!may_claim() || now < claim_at_) return std::nullopt;
  core::ClaimRequest request;
  request.max = most;
  request.lease = options_.lease;
  request.wait = kClaimWait;
  if (joins(now)) {
    if (auto settlements = settle(now)) {
      request.settle = *std::move(settlements);
      request.wait = Millis(0);
      joined_ = true;
    }
  }
  claiming_ = most;
  withdrawn_ = false;
  return request;
}

// A server may refuse claims while it still accepts settlements, so after a failed claim they are
// sent alone.
bool Book::joins(Moment now) const noexcept {
  return options_.joins && may_claim() && now >= claim_at_ && settling_.empty() &&
         !outbox_.empty() && now >= settle_at_ && !outages_[static_cast<std::size_t>(Kind::claim)];
}

bool Book::withdraw() noexcept {
  return claiming_ > 0 && !joined_ && !std::exchange(withdrawn_, true);
}

std::optional<core::SettleRequest> Book::settle(Moment now) {
  if (!settling_.empty() || (now < settle_at_ && !abandoned_)) return std::nullopt;
  core::SettleRequest request;
  while (!outbox_.empty() && settling_.size() < kSettleBatch) {
    Ended ended = std::move(outbox_.front());
    outbox_.pop_front();
    if (std::exchange(ended.sent, true) && !may_repeat(ended, now)) {
      ++counts_.stale;
      continue;
    }
    core::SettleItem& item = request.items.emplace_back();
    item.receipt = core::append(request.bytes, ended.receipt);
    item.action = ended.settlement.action;
    item.delay = ended.settlement.delay;
    item.reason = core::append(request.bytes, ended.settlement.reason);
    settling_.push_back(std::move(ended));
  }
  if (!settling_.empty()) return request;
  // No request to settle is left that could notice that the store is back.
  outages_[static_cast<std::size_t>(Kind::settle)].reset();
  return std::nullopt;
}

bool Book::may_repeat(const Ended& ended, Moment now) const noexcept {
  if (abandoned_ || now >= ended.lease_end) return false;
  return !stopped_at_ || now < std::max(*stopped_at_, ended.at) + kSettlePatience;
}

std::optional<core::ExtendRequest> Book::extend(Moment now) {
  if (!extending_.empty() || !extend_at_ || now < *extend_at_) return std::nullopt;
  extend_at_.reset();
  if (stopped_at_ && options_.hold && now >= *stopped_at_ + *options_.hold) return std::nullopt;
  core::ExtendRequest request;
  for (const auto& [id, held] : held_) {
    if (!held.extendable) continue;
    if (now < held.extend_at) {
      keep_earlier(extend_at_, held.extend_at);
      continue;
    }
    extending_.push_back(id);
    request.items.push_back({core::append(request.bytes, held.receipt), held.lease});
  }
  if (extending_.empty()) return std::nullopt;
  extend_sent_ = now;
  return request;
}

std::optional<Moment> Book::next() const noexcept {
  std::optional<Moment> next;
  if (settling_.empty() && !outbox_.empty()) next = settle_at_;
  if (extending_.empty() && extend_at_) keep_earlier(next, *extend_at_);
  return next;
}

// -- answers

std::optional<Moment> Book::claimed(const Result<std::shared_ptr<const core::ClaimReply>>& reply,
                                    Moment now) {
  claiming_ = 0;
  if (std::exchange(joined_, false)) {
    settled(reply ? Result<core::ItemsReply>(core::ItemsReply{(*reply)->settled})
                  : Result<core::ItemsReply>(reply.error()),
            now);
  }
  if (!reply || (*reply)->claim_error) {
    claim_failed(reply ? *(*reply)->claim_error : reply.error(), now);
    return std::nullopt;
  }
  answered(Kind::claim);
  claim_backoff_.reset();
  const auto& begun_at = (*reply)->begun_at;
  return begun_at ? std::min(now, moment_of(*begun_at)) : now;
}

void Book::claim_failed(const Error& error, Moment now) {
  if (failed(Kind::claim, error, now)) claim_at_ = now + claim_backoff_.next();
}

void Book::settled(const Result<core::ItemsReply>& reply, Moment now) {
  std::vector<Ended> sent = std::exchange(settling_, {});
  if (reply) {
    answered(Kind::settle);
    settle_backoff_.reset();
    const core::ItemResult missing = not_answered();
    for (std::size_t i = 0; i < sent.size(); ++i) {
      settle_item(std::move(sent[i]), answer_to(i, reply, missing), now);
    }
  } else if (failed(Kind::settle, reply.error(), now)) {
    outbox_.insert(outbox_.begin(), std::make_move_iterator(sent.begin()),
                   std::make_move_iterator(sent.end()));
    settle_at_ = now + settle_backoff_.next();
  } else {
    counts_.stale += sent.size();
  }
}

void Book::settle_item(Ended ended, const core::ItemResult& answer, Moment now) {
  if (answer.error && is_passing(answer.error->code)) {
    outbox_.push_back(std::move(ended));
    // The pause is set once per batch, not once per item.
    if (settle_at_ <= now) settle_at_ = now + settle_backoff_.next();
    return;
  }
  if (answer.error || answer.outcome != Outcome::done) {
    ++counts_.stale;
    if (!answer.error) return;
    ++counts_.refused;
    refusal_ = answer.error;
    return;
  }
  switch (ended.settlement.action) {
    case core::SettleAction::ack: ++counts_.acked; break;
    case core::SettleAction::retry: ++counts_.retried; break;
    case core::SettleAction::bury: ++counts_.buried; break;
    case core::SettleAction::release:
    case core::SettleAction::move_away: ++counts_.released; break;
  }
}

std::vector<Book::Change> Book::extended(const Result<core::ItemsReply>& reply, Moment now) {
  const std::vector<Id> sent = std::exchange(extending_, {});
  core::ItemResult missing = not_answered();
  if (reply) {
    answered(Kind::extend);
  } else if (!failed(Kind::extend, reply.error(), now)) {
    missing.error = reply.error();
  }
  std::vector<Change> changes;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto found = held_.find(sent[i]);
    // The claim ended meanwhile, so the answer is about a claim that no longer exists.
    if (found == held_.end()) continue;
    Held& held = found->second;
    const Moment before = held.end;
    extend_item(held, answer_to(i, reply, missing), now);
    if (held.end != before) changes.push_back({sent[i], held.end});
  }
  return changes;
}

void Book::extend_item(Held& held, const core::ItemResult& answer, Moment now) {
  if (answer.error && is_passing(answer.error->code)) {
    // Often enough that a try succeeds before the lease runs out, if the store becomes available
    // before that.
    held.extend_at = now + std::clamp(held.lease / 10, kLeastPause, kMostPause);
  } else if (!answer.error && answer.outcome == Outcome::done) {
    held.end = extend_sent_ + held.lease;
    keep_earlier(lapse_at_, held.end);
    held.extend_at = extend_sent_ + third_of(held.lease);
  } else {
    held.extendable = false;
    // A claim whose extension was refused is not lost: it holds as long as it was granted, and may
    // still be settled.
    if (answer.error) return;
    held.end = kLost;
    ++counts_.run_out;
    return;
  }
  keep_earlier(extend_at_, held.extend_at);
}

// -- claims

std::optional<Book::Id> Book::hold(std::string_view receipt, Millis lease, Moment begun,
                                   Moment now) {
  const Id id = next_id_++;
  const Held& held =
      held_.emplace(id, Held{std::string(receipt), lease, begun + lease, begun + third_of(lease)})
          .first->second;
  if (stopped_at_ || held.end <= now) {
    end(id, {.action = core::SettleAction::release}, now);
    return std::nullopt;
  }
  keep_earlier(extend_at_, held.extend_at);
  keep_earlier(lapse_at_, held.end);
  return id;
}

void Book::end(Id id, Settlement settlement, Moment now) {
  const auto found = held_.find(id);
  TARRY_ASSERT(found != held_.end());
  Held held = std::move(found->second);
  held_.erase(found);
  if (held.end == kLost) {
    ++counts_.stale;
    return;
  }
  outbox_.push_back({std::move(held.receipt), fit(std::move(settlement)), held.end, now});
}

std::vector<Book::Id> Book::lapsed(Moment now) {
  std::vector<Id> over;
  if (!lapse_at_ || now < *lapse_at_) return over;
  lapse_at_.reset();
  for (const auto& [id, held] : held_) {
    if (held.end > now) {
      keep_earlier(lapse_at_, held.end);
    } else if (held.end != kLost) {
      over.push_back(id);
    }
  }
  return over;
}

// -- the end

void Book::stop(Moment now, std::optional<Error> why) {
  if (why && !error_) error_ = std::move(why);
  if (!stopped_at_) stopped_at_ = now;
}

bool Book::is_idle() const noexcept { return claiming_ == 0 && extending_.empty() && size() == 0; }

// -- reports

void Book::answered(Kind kind) noexcept {
  outages_[static_cast<std::size_t>(kind)].reset();
  // Perhaps nothing is left to extend, so no request would notice that the store is back.
  outages_[static_cast<std::size_t>(Kind::extend)].reset();
}

bool Book::failed(Kind kind, const Error& error, Moment now) {
  if (is_passing(error.code)) {
    outages_[static_cast<std::size_t>(kind)] = error;
    return true;
  }
  stop(now, error.code == ErrorCode::closed ? std::nullopt : std::optional<Error>(error));
  return false;
}

std::optional<Error> Book::outage() const {
  for (const std::optional<Error>& outage : outages_) {
    if (outage) return outage;
  }
  return std::nullopt;
}

}  // namespace tarry::leases
