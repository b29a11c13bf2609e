#include "relay/flow.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"

namespace tarry::relay {
namespace {

/// How long a claim waits if it names only a part of the queues. Meanwhile the relay claims nothing
/// from the others.
constexpr Millis kPartWait{100};
/// How long the sink may take to answer after `close`.
constexpr Millis kClosePatience{2'000};

}  // namespace

Flow::Flow(const RelayOptions& options, std::uint32_t seed, bool joins)
    : options_(options),
      breaker_(options.breaker, seed),
      rate_(options.rate),
      book_({.lease = options.lease, .joins = joins}) {
  for (const std::string& queue : options.queues) shares_.push_back({queue, {}});
}

Flow::Step Flow::next(Moment now) {
  breaker_.advance(now);
  rate_.advance(now);
  if (!to_hand_on_.jobs.empty()) return std::exchange(to_hand_on_, {});
  if (auto step = stop_step(now)) return *std::move(step);
  if (book_.joins(now)) {
    if (auto step = claim(now)) return *std::move(step);
  }
  if (auto request = book_.settle(now)) return *std::move(request);
  if (book_.stopped_at() && book_.is_idle()) return Finished{};
  if (auto request = book_.extend(now)) return *std::move(request);
  if (auto step = claim(now)) return *std::move(step);
  return wait();
}

std::optional<Flow::Step> Flow::stop_step(Moment now) {
  const auto& stopped_at = book_.stopped_at();
  const bool claim_is_unwanted =
      stopped_at || outdated_ || breaker_.state() == BreakerState::open ||
      (breaker_.state() == BreakerState::half_open && book_.claiming() > 1);
  if (claim_is_unwanted && book_.withdraw()) return Withdraw{};
  if (!stopped_at || held_.empty()) return std::nullopt;
  const Moment drained_at = *stopped_at + options_.drain;
  if (now >= drained_at && !std::exchange(sink_closed_, true)) return CloseSink{};
  if (now >= drained_at + kClosePatience && !std::exchange(sink_abandoned_, true)) {
    return AbandonSink{};
  }
  return std::nullopt;
}

std::uint32_t Flow::room() const noexcept {
  if (breaker_.state() == BreakerState::open) return 0;
  const std::uint32_t most = breaker_.state() == BreakerState::half_open ? 1 : options_.in_flight;
  const auto held = static_cast<std::uint32_t>(held_.size());
  return most - std::min(most, held);
}

std::uint64_t Flow::room_bytes() const noexcept {
  // There is always room for one message; otherwise a message larger than the whole room would
  // never be claimed.
  if (held_.empty()) return options_.in_flight_bytes;
  return options_.in_flight_bytes - std::min(options_.in_flight_bytes, held_bytes_);
}

bool Flow::wants_claim() const noexcept {
  return book_.may_claim() && !shares_.empty() && room() > 0 && room_bytes() > 0;
}

std::optional<Flow::Step> Flow::claim(Moment now) {
  const std::uint32_t most = std::min({room(), options_.batch, rate_.available()});
  if (!wants_claim() || most == 0) return std::nullopt;
  auto request = book_.claim(most, now);
  if (!request) return std::nullopt;
  choose_queues(*request);
  request->by = "relay";
  request->max_bytes = std::min(room_bytes(), core::kMaxClaimBytes);
  outdated_ = false;
  rate_.take(most);
  return *std::move(request);
}

// Names all queues if a claim can have that many; otherwise the next part of them, in turn.
void Flow::choose_queues(core::ClaimRequest& request) {
  const std::size_t all = shares_.size();
  const std::size_t count = std::min<std::size_t>(all, core::kMaxClaimQueues);
  if (count < all) request.wait = std::min(request.wait, kPartWait);
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
  std::optional<Moment> next = book_.next();
  const auto consider = [&next](Moment moment) { next = std::min(next.value_or(moment), moment); };
  const auto& stopped_at = book_.stopped_at();
  if (wants_claim()) consider(std::max(book_.claim_at(), rate_.next()));
  if (breaker_.until() && !stopped_at) consider(*breaker_.until());
  if (stopped_at && !held_.empty() && !sink_abandoned_) {
    consider(*stopped_at + options_.drain + (sink_closed_ ? kClosePatience : Millis(0)));
  }
  return {next};
}

RelayStats Flow::stats() const {
  RelayStats stats = stats_;
  static_cast<leases::Counts&>(stats) = book_.counts();
  stats.in_flight = book_.size();
  stats.breaker = breaker_.state();
  stats.openings = breaker_.openings();
  stats.queues = shares_.size();
  return stats;
}

}  // namespace tarry::relay
