#include "relay/flow.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"

namespace tarry::relay {
namespace {

/// Long, because waiting costs nothing; not endless, so that a connection which died unnoticed does
/// not keep a relay idle for ever.
constexpr Millis kClaimWait{20'000};
constexpr std::size_t kSettleBatch = 1'000;
/// Answers that the store has not taken yet; claiming rests while there are more.
constexpr std::size_t kMaxOutbox = 10'000;
/// Of one claim on a part of the queues: while it waits, nothing is claimed from the others.
constexpr Millis kPartWait{100};
/// After a stop: how long settlements are repeated.
constexpr Millis kSettlePatience{10'000};
/// How long a sink that was closed may take to answer.
constexpr Millis kClosePatience{2'000};

}  // namespace

Flow::Flow(const RelayOptions& options, std::uint32_t seed)
    : options_(options), breaker_(options.breaker, seed), rate_(options.rate) {
  for (const std::string& queue : options.queues) shares_.push_back({queue, {}});
}

Flow::Step Flow::next(Moment now) {
  breaker_.advance(now);
  rate_.advance(now);
  if (!to_hand_on_.jobs.empty()) return std::exchange(to_hand_on_, {});
  if (auto step = stop_step(now)) return *std::move(step);
  if (auto step = settle(now)) return *std::move(step);
  // What was given up there may have been the last: nobody would wake it any more.
  if (stopped_at_ && is_idle()) return Finished{};
  if (auto step = extend(now)) return *std::move(step);
  if (auto step = claim(now)) return *std::move(step);
  return wait();
}

bool Flow::is_idle() const noexcept {
  return claiming_ == 0 && held_.empty() && outbox_.empty() && settling_.empty() &&
         extending_.empty();
}

std::optional<Flow::Step> Flow::stop_step(Moment now) {
  const bool claim_is_unwanted = stopped_at_ || outdated_ ||
                                 breaker_.state() == BreakerState::open ||
                                 (breaker_.state() == BreakerState::half_open && claiming_ > 1);
  if (claiming_ > 0 && claim_is_unwanted && !std::exchange(withdrawn_, true)) return Withdraw{};
  if (!stopped_at_) return std::nullopt;
  if (!held_.empty() && now >= *stopped_at_ + options_.drain &&
      !std::exchange(sink_closed_, true)) {
    return CloseSink{};
  }
  if (!held_.empty() && now >= *stopped_at_ + options_.drain + kClosePatience &&
      !std::exchange(sink_abandoned_, true)) {
    return AbandonSink{};
  }
  if (is_idle()) return Finished{};
  return std::nullopt;
}

std::optional<Flow::Step> Flow::settle(Moment now) {
  if (!settling_.empty() || outbox_.empty()) return std::nullopt;
  if (now < settle_at_ && !abandoned_) return std::nullopt;
  const bool patient =
      !abandoned_ && (!stopped_at_ || now < *stopped_at_ + options_.drain + kSettlePatience);
  core::SettleRequest request;
  while (!outbox_.empty() && settling_.size() < kSettleBatch) {
    Ending ending = std::move(outbox_.front());
    outbox_.pop_front();
    if (ending.tried && (now >= ending.lease_end || !patient)) {
      ++stats_.stale;
      continue;
    }
    core::SettleItem& item = request.items.emplace_back();
    item.receipt = core::append(request.bytes, ending.receipt);
    item.action = ending.action;
    item.delay = ending.delay;
    item.reason = core::append(request.bytes, ending.reason);
    ending.tried = true;
    settling_.push_back(std::move(ending));
  }
  if (settling_.empty()) return std::nullopt;
  return request;
}

std::optional<Flow::Step> Flow::extend(Moment now) {
  if (!extending_.empty() || !extend_at_ || now < *extend_at_) return std::nullopt;
  extend_at_.reset();
  core::ExtendRequest request;
  for (const auto& [id, held] : held_) {
    if (!held.extendable) continue;
    if (now < held.extend_at) {
      extend_at_ = std::min(extend_at_.value_or(held.extend_at), held.extend_at);
      continue;
    }
    extending_.push_back(id);
    request.items.push_back(
        {core::append(request.bytes, held.delivery.receipt()), held.delivery.lease()});
  }
  if (extending_.empty()) return std::nullopt;
  extend_sent_ = now;
  return request;
}

std::uint32_t Flow::room() const noexcept {
  if (breaker_.state() == BreakerState::open) return 0;
  const std::uint32_t most = breaker_.state() == BreakerState::half_open ? 1 : options_.in_flight;
  const auto held = static_cast<std::uint32_t>(held_.size());
  return most - std::min(most, held);
}

std::uint64_t Flow::room_bytes() const noexcept {
  // One message at least, or what is larger than all the room would never go.
  if (held_.empty()) return options_.in_flight_bytes;
  return options_.in_flight_bytes - std::min(options_.in_flight_bytes, held_bytes_);
}

bool Flow::wants_claim() const noexcept {
  return !stopped_at_ && !shares_.empty() && claiming_ == 0 && room() > 0 && room_bytes() > 0 &&
         outbox_.size() < kMaxOutbox;
}

std::optional<Flow::Step> Flow::claim(Moment now) {
  const std::uint32_t most = std::min({room(), options_.batch, rate_.available()});
  if (!wants_claim() || most == 0 || now < claim_at_) return std::nullopt;
  core::ClaimRequest request;
  choose_queues(request);
  request.max = most;
  request.max_bytes = std::min(room_bytes(), core::kMaxClaimBytes);
  request.lease = options_.lease;
  claiming_ = most;
  withdrawn_ = false;
  outdated_ = false;
  rate_.take(most);
  return request;
}

// All of them, where a claim can name as many; else the next part, in turn.
void Flow::choose_queues(core::ClaimRequest& request) {
  const std::size_t all = shares_.size();
  const std::size_t count = std::min<std::size_t>(all, core::kMaxClaimQueues);
  request.wait = count == all ? kClaimWait : kPartWait;
  bool is_shared = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Share& share = shares_[(first_share_ + i) % all];
    request.queues.push_back(share.queue);
    request.shards.push_back(share.shards);
    is_shared = is_shared || !share.shards.empty();
  }
  if (!is_shared) request.shards.clear();
  if (count < all) first_share_ = (first_share_ + count) % all;
}

Flow::Wait Flow::wait() const {
  std::optional<Moment> next;
  const auto consider = [&next](Moment moment) { next = next ? std::min(*next, moment) : moment; };
  if (wants_claim()) consider(std::max(claim_at_, rate_.next()));
  if (breaker_.until() && !stopped_at_) consider(*breaker_.until());
  if (settling_.empty() && !outbox_.empty()) consider(settle_at_);
  if (extending_.empty() && extend_at_) consider(*extend_at_);
  if (stopped_at_ && !held_.empty() && !sink_abandoned_) {
    consider(*stopped_at_ + options_.drain + (sink_closed_ ? kClosePatience : Millis(0)));
  }
  return {next};
}

RelayStats Flow::stats() const {
  RelayStats stats = stats_;
  stats.in_flight = held_.size() + outbox_.size() + settling_.size();
  stats.breaker = breaker_.state();
  stats.openings = breaker_.openings();
  stats.queues = shares_.size();
  return stats;
}

}  // namespace tarry::relay
