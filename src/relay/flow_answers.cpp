// Flow: how the store's and the sink's answers change its state. The steps that follow are in
// flow.cpp.
#include <algorithm>
#include <utility>

#include "leases/settlement.h"
#include "relay/flow.h"

namespace tarry::relay {
namespace {

/// If a reply has at most this many bytes, its messages share its memory, which lives until the
/// last of them is settled.
constexpr std::size_t kMostShared = 64 * 1024;

/// Makes a reply that has only the i-th message.
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

}  // namespace

// -- the store

void Flow::claimed(Result<std::shared_ptr<const core::ClaimReply>> reply, Moment now) {
  const std::uint32_t asked = book_.claiming();
  const std::size_t got = reply ? (*reply)->items.size() : 0;
  rate_.give_back(asked - std::min(asked, static_cast<std::uint32_t>(got)));
  const auto begun = book_.claimed(reply, now);
  note_refusal();
  if (!begun) return;
  stats_.claimed += got;
  // Messages of one reply are settled at different times. The memory of a large reply must not stay
  // until the last of them, so each message gets its own copy.
  const bool shared = got <= 1 || (*reply)->bytes.size() <= kMostShared;
  for (std::size_t i = 0; i < got; ++i) {
    take(Delivery(shared ? *reply : alone(**reply, i), shared ? i : 0), *begun, now);
  }
}

void Flow::take(Delivery delivery, Moment begun, Moment now) {
  const Moment lease_end = begun + delivery.lease();
  // The claim's answer took so long that another consumer may have the message by now.
  if (lease_end <= now) stats_.last_error = too_late().reason;
  const auto id = book_.hold(delivery.receipt(), delivery.lease(), begun, now);
  if (!id) return;
  // This claim was sent before the breaker opened.
  const bool unwanted = breaker_.state() == BreakerState::open ||
                        (breaker_.state() == BreakerState::half_open && !held_.empty());
  if (unwanted) return book_.end(*id, {.action = core::SettleAction::release}, now);
  held_bytes_ += delivery.payload().size();
  auto lease = std::make_shared<LeaseEnd>(lease_end);
  to_hand_on_.jobs.push_back({*id, delivery, lease});
  held_.emplace(*id, Held{std::move(delivery), now, std::move(lease)});
}

void Flow::serve(std::vector<Share> shares) {
  if (shares_ == shares) return;
  if (first_share_ < shares_.size()) {
    const auto next =
        std::ranges::lower_bound(shares, shares_[first_share_].queue, {}, &Share::queue);
    first_share_ = next == shares.end() ? 0 : static_cast<std::size_t>(next - shares.begin());
  }
  shares_ = std::move(shares);
  outdated_ = book_.claiming() > 0;
}

void Flow::settled(const Result<core::ItemsReply>& reply, Moment now) {
  book_.settled(reply, now);
  note_refusal();
}

void Flow::note_refusal() {
  if (const auto refusal = book_.take_refusal()) {
    mishaps_[static_cast<std::size_t>(Mishap::unsettled)] = {book_.counts().refused,
                                                             leases::fit_reason(refusal->message)};
  }
}

void Flow::extended(const Result<core::ItemsReply>& reply, Moment now) {
  for (const auto& [id, end] : book_.extended(reply, now)) held_.at(id).lease->move(end);
}

// -- the sink

void Flow::answered(JobId id, Answer answer, Moment now) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  const Held held = std::move(found->second);
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
      end(id, held.delivery, core::SettleAction::ack, {}, now);
      return;
    case Fate::refused:
      count(Mishap::refused, answer.reason);
      breaker_.worked();
      end(id, held.delivery, core::SettleAction::bury, std::move(answer), now);
      return;
    case Fate::down:
      if (!book_.stopped_at()) breaker_.down(now);
      end(id, held.delivery, core::SettleAction::release, {}, now);
      return;
    case Fate::late: end(id, held.delivery, core::SettleAction::release, {}, now); return;
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
      // The sink fails for all messages. A message that surely did not arrive keeps its attempt,
      // unless the sink said when to try again: a released message would be due at once. If a trial
      // fails, the attempt counts: otherwise a message that always fails would be chosen for every
      // further trial.
      end(id, held.delivery,
          was_open && answer.fate != Fate::unknown && !answer.after ? core::SettleAction::release
                                                                    : core::SettleAction::retry,
          std::move(answer), now);
      return;
  }
}

void Flow::count(Mishap mishap, const std::string& reason) {
  Mishaps& all = mishaps_[static_cast<std::size_t>(mishap)];
  ++all.count;
  all.reason = leases::fit_reason(reason);
}

void Flow::end(JobId id, const Delivery& delivery, core::SettleAction action, Answer answer,
               Moment now) {
  const auto most = options_.max_attempts;
  if (action == core::SettleAction::retry && most && delivery.attempt() >= *most) {
    action = core::SettleAction::bury;
  }
  book_.end(id, {action, answer.after, std::move(answer.reason)}, now);
}

void Flow::stop(Moment now) { book_.stop(now); }

}  // namespace tarry::relay
