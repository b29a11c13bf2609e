// Every Nth call of the disk fails, once or for good, under the whole engine with its threads. Then
// the store is opened again, and everything that was answered must be there.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "engines/embedded/embedded_engine.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/requests.h"
#include "support/embedded/sample.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

using storage::FaultPlan;

constexpr std::chrono::seconds kLongest(60);  // a hang, not a limit on speed

class Lives {
 public:
  explicit Lives(const FaultPlan& plan) {
    faults_->arm(plan);
    plan_ = plan;
  }

  /// Sends the requests and accepts any answer. Halfway, closes the store and opens it again.
  void live() {
    if (open()) verbs(0);
    close();
    if (open()) verbs(1);
    close();
    calls_ = faults_->calls();
    first_ = faults_->first_failed();
  }

  /// Opens the store on the healthy disk and checks it. `power`: the machine lost power before.
  void look(bool power, std::uint64_t seed) {
    faults_->disarm();
    if (power) {
      disk_.lose_power(seed);
    } else {
      disk_.kill(seed);
    }
    ASSERT_TRUE(open()) << "does not open again: " << why_;
    std::set<std::string> dead;
    for (const auto& [key, payload] : pushed_) {
      core::GetRequest request;
      request.queue = "q";
      request.keys.push_back(core::append(request.bytes, key));
      const auto reply = ask(std::move(request));
      ASSERT_TRUE(reply) << reply.error().message;
      const auto& item = std::get<core::GetReply>(*reply).items.front();
      const bool ends = ended_.contains(key);
      if (!item) {
        EXPECT_TRUE(ends || ending_.contains(key)) << key << " is lost";
        continue;
      }
      EXPECT_FALSE(ends) << key << " was ended, and is there";
      EXPECT_EQ(item->payload, payload) << key;
      // An unreadable message is set aside, for somebody to look at.
      if (item->state == State::dead) {
        EXPECT_TRUE(first_.starts_with("read_at")) << key << " is dead: " << item->reason;
        dead.insert(key);
      }
    }
    // No acked or cancelled message is delivered again; all others are.
    clock_->advance(100 * 3'600'000);
    std::set<std::string> came;
    for (int i = 0; i < 100; ++i) {
      const auto reply = ask(test::claim("q", 100));
      ASSERT_TRUE(reply) << reply.error().message;
      const auto& claimed = std::get<core::ClaimReply>(*reply);
      if (claimed.items.empty()) break;
      for (const auto& item : claimed.items) {
        EXPECT_TRUE(came.emplace(core::view(claimed.bytes, item.key)).second);
      }
    }
    for (const std::string& key : came) EXPECT_FALSE(ended_.contains(key)) << key << " came again";
    for (const auto& [key, payload] : pushed_) {
      EXPECT_TRUE(came.contains(key) || dead.contains(key) || ended_.contains(key) ||
                  ending_.contains(key))
          << key << " never comes";
    }
    close();
  }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] const std::string& first_failed() const { return first_; }
  [[nodiscard]] std::size_t accepted() const { return pushed_.size(); }

 private:
  bool open() {
    EmbeddedOptions options;
    options.directory = [this] { return disk_.root(); };
    options.shards = 2;
    options.segment_bytes = 64 << 10;
    options.clock = clock_;
    auto engine = open_embedded(options);
    if (!engine) {
      why_ = engine.error().message;
      EXPECT_GT(faults_->failed(), 0u) << why_;
      return false;
    }
    engine_ = std::move(*engine);
    return true;
  }
  void close() {
    if (engine_) engine_->close();
    engine_.reset();
  }

  Result<core::Reply> ask(core::Request request) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    auto future = promise->get_future();
    engine_->submit(std::move(request),
                    [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
    if (future.wait_for(kLongest) != std::future_status::ready) {
      ADD_FAILURE() << "no answer after " << faults_->first_failed();
      std::abort();  // otherwise the engine's threads would block the test for ever
    }
    return future.get();
  }

  void push(const std::string& key, Due due, std::size_t size) {
    const std::string payload = key + std::string(size, 'x');
    const auto reply = ask(test::push("q", key.c_str(), due, payload));
    if (!reply) return check(reply.error());
    const auto& item = std::get<core::PushReply>(*reply).items.front();
    if (item.error) {
      if (item.error->code == ErrorCode::io_error) stopped_.insert(key);
      return check(*item.error);
    }
    EXPECT_FALSE(stopped_.contains(key)) << "a shard that had stopped accepts";
    if (item.outcome == Outcome::pushed) pushed_[key] = payload;
  }
  void check(const Error& error) {
    EXPECT_GT(faults_->failed(), 0u) << "refused without a cause: " << error.message;
  }
  void end(core::Request request, const std::string& key, Outcome done) {
    ending_.insert(key);
    const auto reply = ask(std::move(request));
    if (!reply) return check(reply.error());
    const auto& item = std::get<core::ItemsReply>(*reply).items.front();
    if (item.error) return check(*item.error);
    if (item.outcome == done) ended_.insert(key);
  }

  void verbs(int life) {
    const std::string name = life == 0 ? "a" : "b";
    for (int i = 0; i < 8; ++i) push(name + std::to_string(i), Due(), 4000);
    for (int i = 0; i < 4; ++i) push(name + "later" + std::to_string(i), in(Hours(1)), 6000);
    for (int i = 0; i < 2; ++i) {
      const std::string key = name + "later" + std::to_string(i);
      end(test::cancel("q", key), key, Outcome::cancelled);
    }
    (void)ask(test::reschedule("q", name + "later2", in(Hours(2))));
    const auto reply = ask(test::claim("q", 5));
    if (reply) {
      const auto& claimed = std::get<core::ClaimReply>(*reply);
      const auto receipts = test::receipts_of(claimed);
      for (std::size_t i = 0; i < receipts.size(); ++i) {
        const std::string key(core::view(claimed.bytes, claimed.items[i].key));
        EXPECT_FALSE(ended_.contains(key)) << key << " came again";
        if (i == 3) {
          (void)ask(test::settle({receipts[i]}, core::SettleAction::retry));
        } else if (i != 4) {
          end(test::settle({receipts[i]}), key, Outcome::done);
        }
      }
    } else {
      check(reply.error());
    }
    (void)ask(core::StatsRequest{""});
    core::ListRequest list;
    list.queue = "q";
    (void)ask(std::move(list));
    core::ConfigureRequest configure;
    configure.queue = "q";
    configure.patch.max_attempts = 9;
    (void)ask(std::move(configure));
    // These pushes fill more than a segment, so that new segments are begun and old ones cleaned.
    for (int i = 0; i < 6; ++i) {
      const std::string key = name + "big" + std::to_string(i);
      push(key, in(Hours(3)), 30'000);
      if (i % 2 == 0) end(test::cancel("q", key), key, Outcome::cancelled);
    }
    // A shard whose sync has failed stays stopped; the other shard goes on.
    for (const std::string& key : std::set<std::string>(stopped_)) push(key, Due(), 10);
    stopped_.clear();
  }

  using Hours = std::chrono::hours;

  FaultPlan plan_;
  std::shared_ptr<storage::Faults> faults_ = std::make_shared<storage::Faults>();
  storage::VirtualDisk disk_{faults_};
  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  std::unique_ptr<core::Engine> engine_;
  std::map<std::string, std::string> pushed_;  // by key: payloads of accepted pushes
  std::set<std::string> ending_;               // keys that a request was to end
  std::set<std::string> ended_;                // keys that were answered as ended
  std::set<std::string> stopped_;              // keys that a failed shard refused
  std::string why_;
  std::string first_;
  std::uint64_t calls_ = 0;
};

struct Kind {
  const char* name;
  ErrorCode code;
  bool for_good;
  bool short_write;
  bool reads;
};

class NthIo : public testing::TestWithParam<Kind> {};

FaultPlan plan_of(const Kind& kind, std::uint64_t at) {
  FaultPlan plan;
  plan.fail_at = at;
  plan.code = kind.code;
  plan.for_good = kind.for_good;
  plan.short_write = kind.short_write;
  plan.reads_too = kind.reads;
  return plan;
}

TEST_P(NthIo, FailsAndNothingCrashesHangsOrLies) {
  std::uint64_t calls = 0;
  {
    Lives healthy(plan_of(GetParam(), UINT64_MAX));
    healthy.live();
    calls = healthy.calls();
    healthy.look(false, 1);
    EXPECT_EQ(healthy.accepted(), 36u);
  }
  ASSERT_FALSE(HasFailure());
  std::uint64_t failed = 0;
  // The threads make the number of calls vary a little: a few that are not reached do no harm.
  for (std::uint64_t n = 1; n <= calls + 2 && !HasFailure(); n += test::kTryEvery) {
    Lives run(plan_of(GetParam(), n));
    run.live();
    run.look(n % 2 == 0, n);
    if (!run.first_failed().empty()) ++failed;
    if (HasFailure()) {
      ADD_FAILURE() << GetParam().name << ": call " << n << ", " << run.first_failed();
    }
  }
  std::cout << GetParam().name << ": " << calls << " calls, " << failed << " failed in turn\n";
  EXPECT_GT(failed, calls / 2 / test::kTryEvery);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, NthIo,
    testing::Values(Kind{"once", ErrorCode::io_error, false, false, true},
                    Kind{"for_good", ErrorCode::io_error, true, false, true},
                    Kind{"for_good_but_reads", ErrorCode::io_error, true, false, false},
                    Kind{"short_write", ErrorCode::io_error, false, true, false},
                    Kind{"no_space_once", ErrorCode::no_space, false, false, false},
                    Kind{"no_space_for_good", ErrorCode::no_space, true, true, false}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tarry::embedded
