// A queue is removed while the process or the machine may stop at any call of the disk. Afterwards
// the queue exists with everything in it, or is gone completely, on all shards.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <iostream>
#include <string>
#include <vector>

#include "engines/embedded/embedded_engine.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

constexpr std::chrono::seconds kLongestRemoval(60);  // a hang, not a limit on speed
constexpr int kRemovedMessages = 24;

class RemovalLife {
 public:
  [[nodiscard]] bool open() {
    EmbeddedOptions options;
    options.directory = [this] { return disk_.root(); };
    options.shards = 3;
    options.segment_bytes = 64 << 10;
    options.clock = clock_;
    options.log = [this](std::string_view line) {
      if (line.find("cut short") != std::string_view::npos) ++resumed_;
    };
    auto engine = open_embedded(options);
    if (engine) engine_ = std::move(*engine);
    return engine_ != nullptr;
  }
  void close() {
    if (engine_) engine_->close();
    engine_.reset();
  }
  std::future<Result<core::Reply>> send(core::Request request) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    engine_->submit(std::move(request),
                    [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
    return promise->get_future();
  }
  static Result<core::Reply> take(std::future<Result<core::Reply>> future) {
    if (future.wait_for(kLongestRemoval) != std::future_status::ready) {
      ADD_FAILURE() << "no answer";
      std::abort();  // otherwise the engine's threads would block the test for ever
    }
    return future.get();
  }
  Result<core::Reply> ask(core::Request request) { return take(send(std::move(request))); }

  /// Fills two queues: "gone", in which one message is dead and one was acked, and "stays".
  void fill() {
    std::vector<std::string> keys;
    for (int i = 0; i < kRemovedMessages; ++i) keys.push_back("k" + std::to_string(i));
    for (const char* queue : {"gone", "stays"}) {
      core::ConfigureRequest configure;
      configure.queue = queue;
      configure.patch.remember = Millis(3'600'000);
      ASSERT_TRUE(ask(configure));
      ASSERT_TRUE(ask(test::push(queue, "acked")));
      ASSERT_TRUE(ask(test::settle(claim(queue))));
      ASSERT_TRUE(ask(test::push(queue, "k0")));
      ASSERT_TRUE(ask(test::settle(claim(queue), core::SettleAction::bury)));
      keys.erase(keys.begin());
      ASSERT_TRUE(ask(test::push(queue, keys, Due::after(Millis(1000)))));
      keys.insert(keys.begin(), "k0");
    }
  }
  std::vector<std::string> claim(const std::string& queue) {
    const auto reply = ask(test::claim(queue, 100));
    if (!reply) return {};
    return test::receipts_of(std::get<core::ClaimReply>(*reply));
  }

  /// The number of messages in the queue, remembered ones included; -1 if there is no such queue.
  int messages(const std::string& queue) {
    const auto reply = ask(core::StatsRequest{queue});
    if (!reply) {
      EXPECT_EQ(reply.error().code, ErrorCode::not_found) << reply.error().message;
      return -1;
    }
    const QueueStats& stats = std::get<StoreStats>(*reply).queues.at(0);
    EXPECT_EQ(stats.settings.remember, Millis(3'600'000)) << queue;
    return static_cast<int>(stats.scheduled + stats.ready + stats.leased + stats.dead +
                            stats.remembered);
  }

  storage::VirtualDisk& disk() { return disk_; }
  storage::Faults& faults() { return *faults_; }
  timing::ManualClock& clock() { return *clock_; }
  [[nodiscard]] int resumed() const { return resumed_; }

 private:
  std::shared_ptr<storage::Faults> faults_ = std::make_shared<storage::Faults>();
  storage::VirtualDisk disk_{faults_};
  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  int resumed_ = 0;
  std::unique_ptr<core::Engine> engine_;
};

// A push runs during the removal. If it is accepted, it must not be lost.
TEST(QueueRemoval, IsWholeOrNothingWhereverTheProcessEnds) {
  int before = 0;
  int after = 0;
  int resumed = 0;
  bool reached = true;
  for (std::uint64_t n = 1; reached && !HasFailure(); ++n) {
    SCOPED_TRACE("ends at call " + std::to_string(n));
    RemovalLife life;
    ASSERT_TRUE(life.open());
    life.fill();
    storage::FaultPlan plan;
    plan.fail_at = n;
    plan.dies = true;
    plan.short_write = n % 3 == 0;
    life.faults().arm(plan);
    auto removal = life.send(core::RemoveRequest{"gone", false});
    auto push = life.send(test::push("gone", "new", Due::after(Millis(1000))));
    const auto removed = RemovalLife::take(std::move(removal));
    const auto pushed = RemovalLife::take(std::move(push));
    const bool accepted = pushed && !std::get<core::PushReply>(*pushed).items[0].error;
    reached = life.faults().dead();
    life.close();
    life.faults().disarm();
    if (n % 2 == 0) {
      life.disk().lose_power(n);
    } else {
      life.disk().kill(n);
    }
    ASSERT_TRUE(life.open());
    // Waits for the removal that is completed now.
    const auto got = life.ask(core::RemoveRequest{"never", true});
    EXPECT_FALSE(got);
    EXPECT_EQ(life.messages("stays"), kRemovedMessages + 1);
    const auto reply = life.ask(core::StatsRequest{"gone"});
    const bool there = bool(reply);
    std::uint64_t count = 0;
    std::uint64_t taken = 0;
    if (there) {
      const QueueStats& stats = std::get<StoreStats>(*reply).queues.at(0);
      count = stats.scheduled + stats.ready + stats.leased + stats.dead + stats.remembered;
      taken = stats.counters.accepted;
    }
    if (removed) {
      EXPECT_EQ(std::get<core::CountReply>(*removed).count, unsigned{kRemovedMessages});
      EXPECT_LE(count, 1u);
    }
    if (count > 1) {
      EXPECT_EQ(count, unsigned{kRemovedMessages} + 1);
      EXPECT_EQ(taken, unsigned{kRemovedMessages} + 1);
      ++before;
    } else {
      ++after;
    }
    if (accepted) {
      EXPECT_EQ(count, 1u) << "an accepted push is lost";
    }
    resumed += life.resumed();
    // A second removal works too, and a new queue gets the freed number.
    ASSERT_TRUE(life.ask(test::push("gone", "last")));
    ASSERT_TRUE(life.ask(core::RemoveRequest{"gone", true}));
    ASSERT_TRUE(life.ask(test::push("another", "x")));
    life.close();
    ASSERT_TRUE(life.open());
    EXPECT_EQ(life.messages("gone"), -1);
    EXPECT_EQ(life.messages("stays"), kRemovedMessages + 1);
    life.close();
  }
  std::cout << before << " times all was there, " << after << " times nothing, " << resumed
            << " removals were finished at the start\n";
  EXPECT_GT(before, 1);
  EXPECT_GT(after, 1);
  EXPECT_GT(resumed, 1);
}

}  // namespace
}  // namespace tarry::embedded
