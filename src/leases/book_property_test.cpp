// Runs a book against a model of the store whose answers are late, lost or refused at random. The
// book keeps its invariants in any case, and comes to an end.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leases/book.h"

namespace tarry::leases {
namespace {

using namespace std::chrono_literals;
using core::SettleAction;

constexpr Millis kLease{300};

class World {
 public:
  World(std::uint32_t seed, std::optional<Millis> hold_for, bool joins)
      : book_({.lease = kLease, .hold = hold_for, .joins = joins}), random_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step(true);
    book_.stop(now_);
    stopped_at_ = now_;
    abandoned_ = below(4) == 0;
    if (abandoned_) book_.abandon();
    for (int i = 0; i < 100'000 && !book_.is_idle(); ++i) step(false);
    RC_ASSERT(book_.is_idle());
    const Counts& counts = book_.counts();
    RC_ASSERT(counts.acked + counts.retried + counts.buried + counts.released + counts.stale ==
              claims_.size());
    RC_ASSERT(counts.acked == told_acked_);
    RC_ASSERT(counts.refused == told_refused_);
    RC_ASSERT(counts.run_out == lost_.size());
  }

 private:
  // The store's facts about a claim.
  struct Claim {
    Moment end{0};  // of its lease
    std::optional<SettleAction> settled;
  };
  // How the owner wants the claim to end.
  struct Wanted {
    SettleAction action;
    Moment at{0};
    Moment lease_end{0};
    bool sent = false;
  };
  // A request on its way: the store acts on it first, and its answer comes later.
  struct OnItsWay {
    std::vector<std::string> receipts;
    std::vector<SettleAction> actions;
    std::optional<core::ItemsReply> done;
  };

  using Told = Result<std::shared_ptr<const core::ClaimReply>>;

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }

  void step(bool faults) {
    switch (below(9)) {
      case 0: return pass_time();
      case 1: return ask_claim();
      case 2: return ask_settle();
      case 3: return ask_extend();
      case 4: return answer_claim(faults);
      case 5: return act(settling_, &World::settle_one);
      case 6: return act(extending_, &World::extend_one);
      case 7: return below(2) == 0 ? answer_settle(faults) : answer_extend(faults);
      default: return end_one();
    }
  }

  void pass_time() {
    now_ += Moment(1 + below(40));
    if (book_.next() && below(3) == 0) now_ = std::max(now_, *book_.next());
    for (const Book::Id id : book_.lapsed(now_)) {
      RC_ASSERT(held_.contains(id));
      RC_ASSERT(book_.lease_end(id) <= now_);
    }
  }

  // -- requests of the book

  void ask_claim() {
    const auto request = book_.claim(1 + below(5), now_);
    if (!request) return;
    RC_ASSERT(!claim_sent_);
    RC_ASSERT(!stopped_at_);
    claim_sent_ = now_;
    asked_for_ = request->max;
    joined_ = !request->settle.items.empty();
    if (!joined_) return;
    RC_ASSERT(request->wait == Millis(0));
    RC_ASSERT(!book_.withdraw());
    send(request->settle);
  }
  void ask_settle() {
    if (const auto request = book_.settle(now_)) send(*request);
  }
  void send(const core::SettleRequest& request) {
    RC_ASSERT(!settling_);
    settling_.emplace();
    for (const core::SettleItem& item : request.items) {
      const std::string receipt(core::view(request.bytes, item.receipt));
      RC_ASSERT(wanted_.contains(receipt));
      Wanted& wanted = wanted_.at(receipt);
      RC_ASSERT(item.action == wanted.action);
      RC_ASSERT(!lost_.contains(receipt));
      if (std::exchange(wanted.sent, true)) {
        RC_ASSERT(!abandoned_);
        RC_ASSERT(now_ < wanted.lease_end);
        if (stopped_at_) RC_ASSERT(now_ < std::max(*stopped_at_, wanted.at) + 10s);
      }
      settling_->receipts.push_back(receipt);
      settling_->actions.push_back(item.action);
    }
  }
  void ask_extend() {
    const auto request = book_.extend(now_);
    if (!request) return;
    RC_ASSERT(!extending_);
    extending_.emplace();
    for (const core::ExtendItem& item : request->items) {
      const std::string receipt(core::view(request->bytes, item.receipt));
      const bool is_held =
          std::ranges::any_of(held_, [&](auto& one) { return one.second == receipt; });
      RC_ASSERT(is_held);
      RC_ASSERT(!lost_.contains(receipt));
      extending_->receipts.push_back(receipt);
    }
  }

  // -- actions of the store

  void act(std::optional<OnItsWay>& request,
           core::ItemResult (World::*one)(const OnItsWay&, std::size_t)) {
    if (!request || request->done) return;
    request->done.emplace();
    for (std::size_t i = 0; i < request->receipts.size(); ++i) {
      request->done->items.push_back((this->*one)(*request, i));
    }
  }
  core::ItemResult settle_one(const OnItsWay& request, std::size_t i) {
    core::ItemResult result;
    Claim& claim = claims_.at(request.receipts[i]);
    const bool again =
        claim.settled == SettleAction::ack && request.actions[i] == SettleAction::ack;
    const bool live = !claim.settled && now_ < claim.end;
    if (live) claim.settled = request.actions[i];
    result.outcome = live || again ? Outcome::done : Outcome::stale;
    return result;
  }
  core::ItemResult extend_one(const OnItsWay& request, std::size_t i) {
    core::ItemResult result;
    Claim& claim = claims_.at(request.receipts[i]);
    const bool live = !claim.settled && now_ < claim.end;
    if (live) claim.end = now_ + kLease;
    result.outcome = live ? Outcome::done : Outcome::stale;
    return result;
  }

  // -- answers

  void answer_claim(bool faults) {
    if (!claim_sent_) return;
    const bool joined = std::exchange(joined_, false);
    const Moment sent = *std::exchange(claim_sent_, std::nullopt);
    auto reply = std::make_shared<core::ClaimReply>();
    if (joined) {
      const OnItsWay settling = *std::exchange(settling_, std::nullopt);
      if (const auto error = whole_error(settling, faults)) {
        RC_ASSERT(!book_.claimed(*error, now_));
        return;
      }
      reply->settled = told_of(settling, faults).items;
    }
    if (faults && below(6) == 0) {
      const Error error{ErrorCode::unavailable, "away"};
      if (joined) reply->claim_error = error;
      RC_ASSERT(!book_.claimed(joined ? Told(std::move(reply)) : Told(error), now_));
      return;
    }
    const bool says_when = below(2) == 0;
    if (says_when) reply->begun_at = base::BootClock::time_point(sent);
    const auto begun = book_.claimed(std::shared_ptr<const core::ClaimReply>(reply), now_);
    RC_ASSERT(begun);
    // If the reply does not say when the leases began, they count from the reply's arrival.
    const Moment truly = says_when ? sent + Moment(below(1 + span(sent))) : now_;
    for (std::uint32_t i = below(asked_for_ + 1); i > 0; --i) take(truly, *begun);
  }
  [[nodiscard]] std::uint32_t span(Moment since) const {
    return static_cast<std::uint32_t>((now_ - since).count());
  }
  void take(Moment truly, Moment begun) {
    const std::string receipt = std::to_string(claims_.size());
    Claim& claim = claims_[receipt];
    claim.end = truly + kLease;
    const auto id = book_.hold(receipt, kLease, begun, now_);
    if (!id) {
      RC_ASSERT(stopped_at_ || begun + kLease <= now_);
      wanted_[receipt] = {SettleAction::release, now_, begun + kLease, false};
      return;
    }
    RC_ASSERT(!stopped_at_);
    held_[*id] = receipt;
    check_lease(*id);
  }
  void check_lease(Book::Id id) {
    const Claim& claim = claims_.at(held_.at(id));
    RC_ASSERT(book_.lease_end(id) <= claim.end);
  }

  std::optional<Error> whole_error(const OnItsWay& request, bool faults) {
    if (!request.done) return Error{ErrorCode::unavailable, "away"};
    if (faults && below(5) == 0) return Error{ErrorCode::unknown_outcome, "lost"};
    return std::nullopt;
  }
  void answer_settle(bool faults) {
    if (!settling_ || joined_ || (!settling_->done && below(3) > 0)) return;
    const OnItsWay request = *std::exchange(settling_, std::nullopt);
    if (const auto error = whole_error(request, faults)) return book_.settled(*error, now_);
    book_.settled(told_of(request, faults), now_);
  }
  core::ItemsReply told_of(const OnItsWay& request, bool faults) {
    core::ItemsReply reply = *request.done;
    for (std::size_t i = 0; i < reply.items.size(); ++i) {
      if (faults && below(6) == 0) {
        reply.items[i].error = Error{ErrorCode::unavailable, "this shard is away"};
      } else if (faults && below(20) == 0) {
        reply.items[i].error = Error{ErrorCode::unsupported, "no place for it"};
        ++told_refused_;
      } else if (reply.items[i].outcome == Outcome::done &&
                 request.actions[i] == SettleAction::ack) {
        ++told_acked_;
        RC_ASSERT(claims_.at(request.receipts[i]).settled == SettleAction::ack);
      }
    }
    if (faults && below(10) == 0 && !reply.items.empty()) {
      // The engine answers too few items. The book must not count the missing ones as refused.
      const core::ItemResult& last = reply.items.back();
      if (last.error && last.error->code == ErrorCode::unsupported) --told_refused_;
      if (!last.error && last.outcome == Outcome::done &&
          request.actions.back() == SettleAction::ack) {
        --told_acked_;
      }
      reply.items.pop_back();
    }
    return reply;
  }
  void answer_extend(bool faults) {
    if (!extending_ || (!extending_->done && below(3) > 0)) return;
    const OnItsWay request = *std::exchange(extending_, std::nullopt);
    const auto error = whole_error(request, faults);
    const auto changes = book_.extended(
        error ? Result<core::ItemsReply>(*error) : Result<core::ItemsReply>(*request.done), now_);
    for (const auto& [id, end] : changes) {
      RC_ASSERT(held_.contains(id));
      RC_ASSERT(book_.lease_end(id) == end);
      if (end == kLost) lost_.insert(held_.at(id));
      check_lease(id);
    }
  }

  void end_one() {
    if (held_.empty()) return;
    auto one = held_.begin();
    std::advance(one, below(static_cast<std::uint32_t>(held_.size())));
    const auto [id, receipt] = *one;
    held_.erase(one);
    const auto action = static_cast<SettleAction>(below(4));
    wanted_[receipt] = {action, now_, book_.lease_end(id), false};
    book_.end(id, {action, {}, "because"}, now_);
  }

  Book book_;
  std::mt19937 random_;
  Moment now_{1'000};
  std::optional<Moment> stopped_at_;
  bool abandoned_ = false;

  std::map<std::string, Claim> claims_;  // by receipt
  std::map<Book::Id, std::string> held_;
  std::map<std::string, Wanted> wanted_;
  std::set<std::string> lost_;
  std::optional<Moment> claim_sent_;
  std::uint32_t asked_for_ = 0;
  bool joined_ = false;  // the claim has taken settling_ with it
  std::optional<OnItsWay> settling_;
  std::optional<OnItsWay> extending_;
  std::uint64_t told_acked_ = 0;
  std::uint64_t told_refused_ = 0;
};

RC_GTEST_PROP(BookProperty, KeepsItsInvariantsWhateverTheStoreAnswers, (std::uint32_t seed)) {
  const std::optional<Millis> holds[] = {{}, Millis(0), Millis(200)};
  World(seed, holds[seed % 3], seed % 2 == 0).run(4'000);
}

}  // namespace
}  // namespace tarry::leases
