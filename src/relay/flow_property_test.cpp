// A relay's flow against a store and a sink that answer at random: whatever they answer, and in
// whatever order, nothing is acked without a confirmation, and every claim ends once.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "relay/flow.h"
#include "support/scripted_store.h"

namespace tarry::relay {
namespace {

class RandomWorld {
 public:
  RandomWorld(const RelayOptions& options, std::uint32_t seed)
      : options_(options), flow_(options, seed), random_(seed) {}

  void run(int rounds) {
    for (int i = 0; i < rounds && !finished_; ++i) round(true);
    flow_.stop(now_);
    for (int i = 0; i < 100'000 && !finished_; ++i) round(false);
    RC_ASSERT(finished_);
    const RelayStats stats = flow_.stats();
    RC_ASSERT(stats.in_flight == 0u);
    RC_ASSERT(stats.claimed ==
              stats.acked + stats.retried + stats.buried + stats.released + stats.stale);
    RC_ASSERT(stats.acked == acked_.size());
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_()) % n; }

  void round(bool faults) {
    Flow::Step step = flow_.next(now_);
    if (auto* wait = std::get_if<Flow::Wait>(&step)) {
      return something_happens(wait->until, faults);
    }
    std::visit([this](auto& what) { perform(what); }, step);
  }

  void perform(core::ClaimRequest& request) {
    RC_ASSERT(!claiming_);
    RC_ASSERT(!request.queues.empty());
    if (options_.queues.empty()) {
      RC_ASSERT(request.queues.size() == served_.size());
      for (std::size_t i = 0; i < request.queues.size(); ++i) {
        const Shards shards = request.shards.empty() ? Shards() : request.shards[i];
        RC_ASSERT(served_.at(request.queues[i]) == shards);
      }
    }
    RC_ASSERT(flow_.stats().breaker != BreakerState::open);
    RC_ASSERT(request.max >= 1u);
    const bool half_open = flow_.stats().breaker == BreakerState::half_open;
    RC_ASSERT(with_sink_.size() + request.max <= (half_open ? 1u : options_.in_flight));
    claiming_ = request.max;
  }
  void perform(core::SettleRequest& request) {
    RC_ASSERT(settling_.empty());
    for (const core::SettleItem& item : request.items) {
      const std::string receipt(core::view(request.bytes, item.receipt));
      RC_ASSERT(open_.contains(receipt));
      const std::optional<Fate> fate = fates_[receipt];
      if (item.action == core::SettleAction::ack) RC_ASSERT(fate == Fate::confirmed);
      if (fate == Fate::confirmed) RC_ASSERT(item.action == core::SettleAction::ack);
      const bool not_sent = fate == Fate::down || fate == Fate::late;
      if (not_sent) RC_ASSERT(item.action == core::SettleAction::release);
      if (fate == Fate::unknown) RC_ASSERT(item.action != core::SettleAction::release);
      if (!fate) RC_ASSERT(item.action == core::SettleAction::release);
      settling_.emplace_back(receipt, item.action);
    }
  }
  void perform(core::ExtendRequest& request) {
    RC_ASSERT(extending_ == 0u);
    extending_ = request.items.size();
  }
  void perform(Flow::HandOn& hand_on) {
    for (const Flow::Job& job : hand_on.jobs) {
      RC_ASSERT(open_.contains(std::string(job.delivery.receipt())));
      with_sink_.emplace_back(job.id, std::string(job.delivery.receipt()));
    }
    RC_ASSERT(with_sink_.size() <= options_.in_flight);
  }
  void perform(Flow::Withdraw&) { RC_ASSERT(claiming_); }
  void perform(Flow::CloseSink&) {}
  void perform(Flow::AbandonSink&) {}
  void perform(Flow::Wait&) {}
  void perform(Flow::Finished&) { finished_ = true; }

  void something_happens(std::optional<Moment> until, bool faults) {
    switch (below(6)) {
      case 4:
        if (options_.queues.empty()) share_out();
        break;
      case 0:
        if (claiming_) answer_claim(faults);
        break;
      case 1:
        if (!settling_.empty()) answer_settle(faults);
        break;
      case 2:
        if (extending_ > 0) answer_extend(faults);
        break;
      case 3:
        if (!with_sink_.empty()) answer_sink();
        break;
      default:
        now_ += Moment(1 + below(50));
        if (until && below(4) == 0) now_ = std::max(now_, *until);
    }
  }

  void answer_claim(bool faults) {
    const std::uint32_t max = *std::exchange(claiming_, std::nullopt);
    if (faults && below(10) == 0) {
      return flow_.claimed(Error{ErrorCode::unavailable, "away"}, now_);
    }
    std::vector<std::string> keys;
    for (std::uint32_t i = below(max + 1); i > 0; --i) keys.push_back(std::to_string(++last_id_));
    auto reply = std::make_shared<core::ClaimReply>(test::claimed(keys, Millis(300)));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      reply->items[i].id = last_id_ - keys.size() + i + 1;
      reply->items[i].attempt = 1 + below(12);
      open_.insert("receipt-" + keys[i]);
    }
    flow_.claimed(std::shared_ptr<const core::ClaimReply>(std::move(reply)), now_);
  }
  void share_out() {
    served_.clear();
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::string queue = "p" + std::to_string(i);
      if (below(2) == 0) served_[queue] = below(2) == 0 ? Shards{} : Shards{below(4)};
    }
    std::vector<Share> shares;
    for (const auto& [queue, shards] : served_) shares.push_back({queue, shards});
    flow_.serve(shares);
  }
  void answer_settle(bool faults) {
    const auto sent = std::exchange(settling_, {});
    const std::uint32_t kind = faults ? below(8) : 7;
    if (kind == 0) return flow_.settled(Error{ErrorCode::unknown_outcome, "lost"}, now_);
    core::ItemsReply reply = test::outcomes(sent.size(), Outcome::done);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (kind == 1 && below(2) == 0) {
        reply.items[i].error = Error{ErrorCode::unavailable, "this shard is away"};
        continue;
      }
      if (kind == 2 && below(2) == 0) reply.items[i].outcome = Outcome::stale;
      open_.erase(sent[i].first);
      const bool done = reply.items[i].outcome == Outcome::done;
      if (done && sent[i].second == core::SettleAction::ack) acked_.insert(sent[i].first);
    }
    flow_.settled(reply, now_);
  }
  void answer_extend(bool faults) {
    const std::size_t count = std::exchange(extending_, 0);
    const std::uint32_t kind = faults ? below(4) : 3;
    if (kind == 0) return flow_.extended(Error{ErrorCode::unavailable, "away"}, now_);
    flow_.extended(test::outcomes(count, kind == 1 ? Outcome::stale : Outcome::done), now_);
  }
  void answer_sink() {
    const std::size_t i = below(static_cast<std::uint32_t>(with_sink_.size()));
    const auto [id, receipt] = with_sink_[i];
    with_sink_.erase(with_sink_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::uint32_t draw = below(14);
    const Fate fate = draw < 8 ? Fate::confirmed : static_cast<Fate>(draw - 7);
    fates_[receipt] = fate;
    flow_.answered(id, {fate, "because", {}}, now_);
  }

  const RelayOptions options_;
  Flow flow_;
  std::mt19937 random_;
  Moment now_{1'000};
  bool finished_ = false;

  std::uint64_t last_id_ = 0;
  std::optional<std::uint32_t> claiming_;
  using Shards = std::vector<std::uint32_t>;
  std::map<std::string, Shards> served_;  // shards of the queues that discovery reports
  std::vector<std::pair<std::string, core::SettleAction>> settling_;
  std::size_t extending_ = 0;
  std::vector<std::pair<Flow::JobId, std::string>> with_sink_;
  std::set<std::string> open_;  // claimed and not yet settled
  std::set<std::string> acked_;
  std::map<std::string, std::optional<Fate>> fates_;
};

RC_GTEST_PROP(FlowProperty, NothingIsAckedWithoutAConfirmation, (std::uint32_t seed)) {
  std::minstd_rand random(seed);
  RelayOptions options;
  if (random() % 2 == 0) options.queues = {"q"};
  options.in_flight = 1 + static_cast<std::uint32_t>(random() % 20);
  options.batch = 1 + static_cast<std::uint32_t>(random() % 20);
  options.rate = random() % 2 == 0 ? 0 : 1 + static_cast<std::uint32_t>(random() % 1'000);
  options.breaker = {.failures = 1 + static_cast<std::uint32_t>(random() % 4),
                     .least = Millis(10),
                     .most = Millis(100)};
  RandomWorld(options, seed).run(3'000);
}

}  // namespace
}  // namespace tarry::relay
