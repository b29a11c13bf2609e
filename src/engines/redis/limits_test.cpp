// max_leased and rate in Redis: several engines on one store, and leases and tokens counted beside
// them.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kLimitShards = 3;

class RedisLimits : public ::testing::Test, protected test::EngineCalls {
 protected:
  static testing::RedisServer& server() { return testing::server_of<RedisLimits>(); }
  RedisLimits() { (void)server().ask({"FLUSHALL"}); }

  [[nodiscard]] std::unique_ptr<core::Engine> open(bool by_clock = true,
                                                   std::uint32_t shards = kLimitShards) const {
    auto options = testing::options_for(server(), by_clock ? clock_ : nullptr);
    options.shards = shards;
    return testing::must_open(std::move(options));
  }
  static void limit(core::Engine& engine, std::uint32_t most) {
    configure(engine, {.max_leased = most});
  }
  static void configure(core::Engine& engine, const SettingsPatch& patch) {
    core::ConfigureRequest request;
    request.queue = "q";
    request.patch = patch;
    (void)take<core::ConfigureReply>(engine, request);
  }
  static void push(core::Engine& engine, std::uint32_t messages) {
    core::PushRequest request;
    request.queue = "q";
    request.items.resize(messages);
    for (core::PushItem& item : request.items) item.due = Due::after(Millis(0));
    (void)take<core::PushReply>(engine, request);
  }
  static core::ClaimRequest claim_of(std::uint32_t max, Millis lease = 1h) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = max;
    request.lease = lease;
    return request;
  }
  static std::vector<std::string> receipts_in(const core::ClaimReply& claimed) {
    std::vector<std::string> receipts;
    for (const auto& item : claimed.items) {
      receipts.emplace_back(core::view(claimed.bytes, item.receipt));
    }
    return receipts;
  }
  static std::vector<std::string> claim(core::Engine& engine, std::uint32_t max,
                                        Millis lease = 1h) {
    return receipts_in(take<core::ClaimReply>(engine, claim_of(max, lease)));
  }
  static bool settle(core::Engine& engine, const std::string& receipt, core::SettleAction action) {
    core::SettleRequest request;
    core::SettleItem item;
    item.receipt = core::append(request.bytes, receipt);
    item.action = action;
    if (action == core::SettleAction::retry) item.delay = Millis(0);
    request.items.push_back(item);
    return take<core::ItemsReply>(engine, request).items.at(0).outcome == Outcome::done;
  }
  static bool extend(core::Engine& engine, const std::string& receipt, Millis lease) {
    core::ExtendRequest request;
    core::ExtendItem item;
    item.receipt = core::append(request.bytes, receipt);
    item.lease = lease;
    request.items.push_back(item);
    return take<core::ItemsReply>(engine, request).items.at(0).outcome == Outcome::done;
  }
  static QueueStats stats(core::Engine& engine) {
    return take<StoreStats>(engine, core::StatsRequest{"q"}).queues.at(0);
  }
  static void wait_until_leased(core::Engine& engine, std::uint64_t leases) {
    const auto deadline = std::chrono::steady_clock::now() + 1min;
    while (stats(engine).leased < leases) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
  static void reshard(core::Engine& engine, std::uint32_t shards) {
    std::uint64_t turn = 0;
    for (int i = 0; i < 100; ++i) {
      const auto step = take<ReshardStep>(engine, core::ReshardRequest{"q", shards, turn});
      if (step.done || step.leased > 0) return;
      turn = step.turn;
    }
    ADD_FAILURE() << "the reshard does not end";
  }

  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
};

// What a rate permits, by its definition: of each stretch of time.
class Tokens {
 public:
  void set(const DeliveryRate& rate) {
    rate_ = rate;
    claims_.clear();
  }
  void take(std::int64_t now, std::size_t messages) {
    claims_.emplace_back(now, static_cast<std::int64_t>(messages));
  }
  [[nodiscard]] std::uint64_t left(std::int64_t now) const {
    if (rate_ == DeliveryRate()) return UINT64_MAX;
    const std::int64_t per = rate_.per.count();
    std::int64_t parts = rate_.burst * per;
    std::int64_t taken = 0;
    for (std::size_t i = claims_.size(); i-- > 0;) {
      taken += claims_[i].second;
      const std::int64_t came = rate_.count * (now - claims_[i].first);
      parts = std::min(parts, rate_.burst * per + came - taken * per);
    }
    return static_cast<std::uint64_t>(parts / per);
  }
  [[nodiscard]] bool is_empty(std::int64_t now) const { return left(now) == 0; }

 private:
  DeliveryRate rate_;
  std::vector<std::pair<std::int64_t, std::int64_t>> claims_;
};

// Random acts of three engines, and a count of the leases and tokens beside them.
class LimitedLife : public RedisLimits {
 protected:
  struct Held {
    std::string receipt;
    std::int64_t till = 0;
  };

  void act() {
    core::Engine& engine = *engines_[pick(3)];
    switch (pick(13)) {
      case 0: return push(engine, pick(6));
      case 12: return set_rate(engine);
      case 1: return set_limit(engine);
      case 2:
      case 3: clock_->advance(pick(1'500)); return;
      case 4: return prolong(engine);
      case 5:
      case 6:
      case 7: return end_one(engine);
      default: return claim_some(engine);
    }
  }

  std::uint32_t pick(std::uint32_t below) {
    return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(random_);
  }
  [[nodiscard]] std::int64_t now() const { return clock_->now().realtime_ms; }
  [[nodiscard]] std::uint64_t leased() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(held_, [this](const Held& one) { return one.till > now(); }));
  }
  void set_limit(core::Engine& engine) {
    most_ = std::array{0u, 1u, 2u, 5u, 9u}[pick(5)];
    limit(engine, most_);
  }
  void set_rate(core::Engine& engine) {
    configure(engine, {.rate = DeliveryRate()});
    const DeliveryRate rate =
        std::array{DeliveryRate(), DeliveryRate{3, 1s, 2}, DeliveryRate{7, 2s, 9}}[pick(3)];
    configure(engine, {.rate = rate});
    tokens_.set(rate);
  }
  void claim_some(core::Engine& engine) {
    const std::uint64_t before = leased();
    const std::uint32_t max = 1 + pick(4);
    const Millis lease(100 + pick(3'000));
    const auto receipts = claim(engine, max, lease);
    for (const std::string& receipt : receipts) held_.push_back({receipt, now() + lease.count()});
    const std::uint64_t tokens = tokens_.left(now());
    const std::uint64_t room =
        std::min(tokens, most_ == 0 ? max : most_ - std::min<std::uint64_t>(before, most_));
    EXPECT_LE(receipts.size(), room)
        << before << " of " << most_ << " were leased, and " << tokens << " tokens there";
    if (!receipts.empty()) tokens_.take(now(), receipts.size());
    const QueueStats there = stats(engine);
    EXPECT_EQ(there.leased, leased());
    EXPECT_EQ(there.rate_next.has_value(), tokens_.is_empty(now()));
    if (receipts.size() < std::min<std::uint64_t>(max, room)) {
      EXPECT_EQ(there.ready, 0u) << before << " of " << most_ << " were leased, " << max
                                 << " were asked for, and got " << receipts.size();
    }
  }
  void prolong(core::Engine& engine) {
    if (held_.empty()) return;
    Held& one = held_[pick(static_cast<std::uint32_t>(held_.size()))];
    const Millis lease(100 + pick(3'000));
    const bool lives = one.till > now();
    EXPECT_EQ(extend(engine, one.receipt, lease), lives);
    if (lives) one.till = now() + lease.count();
  }
  void end_one(core::Engine& engine) {
    if (held_.empty()) return;
    const std::uint32_t at = pick(static_cast<std::uint32_t>(held_.size()));
    const auto action = std::array{core::SettleAction::ack, core::SettleAction::release,
                                   core::SettleAction::retry, core::SettleAction::bury}[pick(4)];
    EXPECT_EQ(settle(engine, held_[at].receipt, action), held_[at].till > now());
    held_.erase(held_.begin() + at);
  }

  std::array<std::unique_ptr<core::Engine>, 3> engines_ = {open(), open(), open()};
  std::vector<Held> held_;
  std::uint32_t most_ = 0;
  Tokens tokens_;
  std::minstd_rand random_;
};

TEST_F(LimitedLife, NeverPassesALimitAndGivesAllThatThereIs) {
  const char* seed = std::getenv("TARRY_SEED");
  random_.seed(seed == nullptr ? 1u : static_cast<unsigned>(std::atoi(seed)));
  push(*engines_[0], 20);
  set_limit(*engines_[0]);
  for (int i = 0; i < 1'500 && !HasFailure(); ++i) act();
}

TEST_F(RedisLimits, HoldAgainstEnginesThatClaimAtOnce) {
  constexpr int kMost = 4;
  std::vector<std::unique_ptr<core::Engine>> engines;
  for (int i = 0; i < 3; ++i) engines.push_back(open(false));
  limit(*engines[0], kMost);
  push(*engines[0], 400);
  // Counted after the answer to a claim, until before the ack: so Redis has at least as many.
  std::atomic<int> held = 0;
  std::atomic<int> most = 0;
  std::atomic<int> acked = 0;
  std::vector<std::thread> consumers;
  for (int i = 0; i < 6; ++i) {
    consumers.emplace_back([&, &engine = *engines[static_cast<std::size_t>(i) % 3]] {
      while (acked < 400 && !HasFailure()) {
        const auto receipts = claim(engine, 3);
        const int now = held += static_cast<int>(receipts.size());
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        for (const std::string& receipt : receipts) {
          --held;
          EXPECT_TRUE(settle(engine, receipt, core::SettleAction::ack));
          ++acked;
        }
      }
    });
  }
  for (std::thread& consumer : consumers) consumer.join();
  EXPECT_EQ(acked, 400);
  EXPECT_LE(most, kMost);
}

TEST_F(RedisLimits, WakeAClaimOfAnotherProcessWhenALeaseEnds) {
  const auto one = open();
  const auto other = open();
  limit(*one, 1);
  push(*one, 20);
  for (const auto action :
       {core::SettleAction::ack, core::SettleAction::release, core::SettleAction::retry,
        core::SettleAction::bury, core::SettleAction::ack}) {
    const auto held = claim(*one, 10);
    ASSERT_EQ(held.size(), 1u);
    auto request = claim_of(10);
    request.wait = 1h;
    auto waiting = begin(*other, request);
    wait_until_it_waits(*other, "q");
    EXPECT_TRUE(settle(*one, held[0], action));
    const auto got = waiting.get();
    ASSERT_TRUE(got) << got.error().message;
    const auto receipts = receipts_in(std::get<core::ClaimReply>(*got));
    ASSERT_EQ(receipts.size(), 1u);
    EXPECT_TRUE(settle(*one, receipts[0], core::SettleAction::ack));
  }
}

TEST_F(RedisLimits, WakeAClaimOfAnotherProcessWhenTheLimitIsRaised) {
  const auto one = open();
  const auto other = open();
  limit(*one, 1);
  push(*one, 5);
  ASSERT_EQ(claim(*one, 10).size(), 1u);
  auto request = claim_of(10);
  request.wait = 1h;
  auto waiting = begin(*other, request);
  wait_until_it_waits(*other, "q");
  limit(*one, 2);
  const auto got = waiting.get();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(std::get<core::ClaimReply>(*got).items.size(), 1u);
}

TEST_F(RedisLimits, PublishOnlyWhileAClaimWaits) {
  const auto engine = open(true, 1);
  limit(*engine, 1);
  push(*engine, 3);
  const std::string key = "tarry:{1}:q/0:meta";
  const auto held = claim(*engine, 1);
  EXPECT_TRUE(claim(*engine, 1).empty());
  EXPECT_EQ(server().ask({"HEXISTS", key, "held"}), ":0\r\n");
  auto request = claim_of(1);
  request.wait = 1h;
  auto waiting = begin(*engine, request);
  wait_until_it_waits(*engine, "q");
  EXPECT_EQ(server().ask({"HEXISTS", key, "held"}), ":1\r\n");
  EXPECT_TRUE(settle(*engine, held.at(0), core::SettleAction::ack));
  (void)waiting.get();
  EXPECT_EQ(server().ask({"HEXISTS", key, "held"}), ":0\r\n");
}

// Both sets of shards count, so the reshard lets nobody pass the limit.
TEST_F(RedisLimits, HoldDuringAReshardAndAfterIt) {
  const auto engine = open(true, 2);
  const auto other = open(true, 2);
  limit(*engine, 3);
  push(*engine, 40);
  auto held = claim(*engine, 2);
  if (held.size() < 2) held.push_back(claim(*engine, 1).at(0));
  reshard(*engine, 5);
  EXPECT_EQ(claim(*other, 10).size(), 1u);
  EXPECT_TRUE(claim(*engine, 10).empty());
  EXPECT_TRUE(settle(*other, held[0], core::SettleAction::ack));
  EXPECT_EQ(claim(*engine, 10).size(), 1u);
  EXPECT_TRUE(claim(*other, 10).empty());
  clock_->advance(7'200'000);
  reshard(*engine, 5);
  EXPECT_EQ(stats(*engine).shards, 5u);
  EXPECT_EQ(stats(*engine).settings.max_leased, 3u);
  std::size_t all = 0;
  for (int i = 0; i < 10; ++i) all += claim(i % 2 == 0 ? *engine : *other, 10).size();
  EXPECT_EQ(all, 3u);
}

// The old shards' bucket goes to the new ones: with a claim amid the reshard, or at its end.
TEST_F(RedisLimits, KeepTheBucketInAReshard) {
  const auto engine = open(true, 2);
  configure(*engine, {.rate = DeliveryRate{1, 1h, 4}});
  push(*engine, 40);
  std::vector<std::string> held;
  while (held.size() < 3) held.push_back(claim(*engine, 1).at(0));
  reshard(*engine, 3);
  EXPECT_EQ(claim(*engine, 1).size(), 1u);
  EXPECT_TRUE(claim(*engine, 10).empty());
  const auto next = stats(*engine).rate_next;
  EXPECT_EQ(next, Time(Millis(clock_->now().realtime_ms)) + 1h);
  clock_->advance(3'600'000);
  reshard(*engine, 3);
  EXPECT_EQ(stats(*engine).shards, 3u);
  EXPECT_FALSE(stats(*engine).rate_next);
  reshard(*engine, 1);
  EXPECT_EQ(stats(*engine).shards, 1u);
  EXPECT_EQ(claim(*engine, 10).size(), 1u);
  EXPECT_TRUE(claim(*engine, 10).empty());
}

// The clock of Redis may step. A step back brings nothing, and takes nothing.
TEST_F(RedisLimits, KeepTheTokensIfTheClockIsSetBack) {
  const auto engine = open();
  configure(*engine, {.rate = DeliveryRate{1, 1h, 2}});
  push(*engine, 10);
  EXPECT_EQ(claim(*engine, 1, 1min).size(), 1u);
  clock_->step_realtime(-7'200'000);
  push(*engine, 10);
  EXPECT_EQ(claim(*engine, 10).size(), 1u);
  EXPECT_TRUE(claim(*engine, 10).empty());
  clock_->advance(3'599'999);
  EXPECT_TRUE(claim(*engine, 10).empty());
  clock_->advance(1);
  EXPECT_EQ(claim(*engine, 10).size(), 1u);
}

TEST_F(RedisLimits, ComeBackIfTheClockIsSetBackWhileTheBucketIsEmpty) {
  const auto engine = open();
  configure(*engine, {.rate = DeliveryRate{1, 1h, 2}});
  push(*engine, 10);
  EXPECT_EQ(claim(*engine, 10).size(), 2u);
  clock_->step_realtime(-36'000'000);
  push(*engine, 10);
  EXPECT_TRUE(claim(*engine, 10).empty());
  EXPECT_EQ(stats(*engine).rate_next, Time(Millis(clock_->now().realtime_ms)) + 1h);
  clock_->advance(3'599'999);
  EXPECT_TRUE(claim(*engine, 10).empty());
  clock_->advance(1);
  EXPECT_EQ(claim(*engine, 10).size(), 1u);
}

// The new shards have no bucket yet when the rate changes, and the queue's one is empty.
TEST_F(RedisLimits, KeepTheBucketIfTheRateChangesDuringAReshard) {
  const auto engine = open(true, 2);
  configure(*engine, {.rate = DeliveryRate{1, 1h, 4}});
  push(*engine, 40);
  std::size_t held = 0;
  while (held < 4) held += claim(*engine, 1).size();
  reshard(*engine, 3);
  configure(*engine, {.rate = DeliveryRate{2, 1h, 4}});
  EXPECT_TRUE(claim(*engine, 10).empty());
  clock_->advance(1'800'000);
  EXPECT_EQ(claim(*engine, 10).size(), 1u);
}

// A process that does not know of the limits yet learns of each queue's.
TEST_F(RedisLimits, HoldForAClaimOverManyQueuesWithLimits) {
  const auto engine = open();
  core::ClaimRequest request;
  request.max = 100;
  for (int i = 0; i < 8; ++i) {
    const std::string queue = "q" + std::to_string(i);
    core::ConfigureRequest configure;
    configure.queue = queue;
    configure.patch.max_leased = 1;
    (void)take<core::ConfigureReply>(*engine, configure);
    request.queues.push_back(queue);
  }
  const auto other = open();
  EXPECT_TRUE(take<core::ClaimReply>(*other, request).items.empty());
  for (const std::string& queue : request.queues) {
    core::PushRequest push;
    push.queue = queue;
    push.items.resize(3);
    (void)take<core::PushReply>(*engine, push);
  }
  EXPECT_EQ(take<core::ClaimReply>(*open(), request).items.size(), 8u);
}

// Each process knows from the script when the next token comes.
TEST_F(RedisLimits, WakeClaimsOfEachProcessWithTheNextToken) {
  const auto one = open();
  const auto other = open();
  configure(*one, {.rate = DeliveryRate{1, 1min, 1}});
  push(*one, 20);
  ASSERT_EQ(claim(*one, 10).size(), 1u);
  auto request = claim_of(10);
  request.wait = 1h;
  auto first = begin(*one, request);
  auto second = begin(*other, request);
  wait_until_it_waits(*one, "q");
  wait_until_it_waits(*other, "q");
  clock_->advance(60'000);
  wait_until_leased(*one, 2);
  clock_->advance(60'000);
  for (auto* waiting : {&first, &second}) {
    const auto got = waiting->get();
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(std::get<core::ClaimReply>(*got).items.size(), 1u);
  }
}

TEST_F(RedisLimits, NeedSchema4) {
  auto engine = open();
  (void)server().ask({"HSET", "tarry:{0}:store", "schema", "3"});
  engine = open();
  core::ConfigureRequest request;
  request.queue = "q";
  request.patch.max_leased = 5;
  const auto refused = ask(*engine, request);
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("a limit (max_leased, rate) needs a store of schema 4"),
            std::string::npos)
      << refused.error().message;
}

// The other shards' keys are not ours: nothing is claimed, and nothing is lost.
TEST_F(RedisLimits, NameAShardThatCannotBeCounted) {
  const auto engine = open(true, 2);
  limit(*engine, 5);
  push(*engine, 10);
  (void)server().ask({"HSET", "tarry:{1}:q/0:meta", "bulk", "many"});
  const auto refused = ask(*engine, claim_of(10));
  ASSERT_FALSE(refused) << "was taken";
  EXPECT_EQ(refused.error().code, ErrorCode::damaged) << refused.error().message;
  (void)server().ask({"HDEL", "tarry:{1}:q/0:meta", "bulk"});
  EXPECT_EQ(stats(*engine).leased, 0u);
  std::size_t claimed = 0;
  for (int i = 0; i < 3; ++i) claimed += claim(*engine, 10).size();
  EXPECT_EQ(claimed, 5u);
}

}  // namespace
}  // namespace tarry::redis
