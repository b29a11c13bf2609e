// A change of a queue's `group_order` is cut short at each of its calls of the disk, and then the
// process is killed or the power fails. Whichever order the queue has afterwards, it holds in all
// shards.
#include <gtest/gtest.h>

#include <future>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engines/embedded/embedded_engine.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

using storage::FaultPlan;

constexpr std::uint32_t kShards = 3;
// With so many keys of one group, each shard has some.
constexpr int kKeys = 24;

class ChangedStore {
 public:
  ChangedStore() { open(); }

  /// Sends a change of the order, whose calls of the disk fail from the `fail_at`th on. Returns the
  /// number of calls.
  std::uint64_t change(GroupOrder order, std::uint64_t fail_at) {
    FaultPlan plan;
    plan.fail_at = fail_at;
    plan.for_good = true;
    faults_->arm(plan);
    static_cast<void>(configure(order));
    const std::uint64_t calls = faults_->calls();
    engine_->close();
    engine_.reset();
    faults_->disarm();
    return calls;
  }

  void come_back(bool power_failed, std::uint64_t seed) {
    power_failed ? disk_.lose_power(seed) : disk_.kill(seed);
    open();
  }

  Result<core::Reply> configure(GroupOrder order) {
    core::ConfigureRequest request;
    request.queue = "q";
    request.patch.group = Grouping{Grouping::By::key, {}};
    request.patch.group_order = order;
    return ask(std::move(request));
  }

  [[nodiscard]] GroupOrder order() {
    return std::get<StoreStats>(ask(core::StatsRequest{"q"}).value())
        .queues.at(0)
        .settings.group_order;
  }

  /// Pushes messages of one group. Returns how many can be claimed at once, and ends them all.
  std::size_t claimed_of_one_group() {
    std::vector<std::string> keys;
    for (int i = 0; i < kKeys; ++i) keys.push_back("{g}" + std::to_string(i));
    const auto pushed = ask(test::push("q", keys));
    EXPECT_TRUE(pushed) << pushed.error().message;
    const auto reply = ask(test::claim("q", kKeys));
    EXPECT_TRUE(reply) << reply.error().message;
    const auto receipts = test::receipts_of(std::get<core::ClaimReply>(*reply));
    EXPECT_TRUE(ask(test::settle(receipts)));
    for (const std::string& key : keys) EXPECT_TRUE(ask(test::cancel("q", key)));
    return receipts.size();
  }

 private:
  void open() {
    EmbeddedOptions options;
    options.directory = [this] { return disk_.root(); };
    options.shards = kShards;
    options.segment_bytes = 64 << 10;
    options.clock = clock_;
    auto engine = open_embedded(options);
    if (!engine) throw std::runtime_error(engine.error().message);
    engine_ = std::move(*engine);
  }

  Result<core::Reply> ask(core::Request request) {
    std::promise<Result<core::Reply>> promise;
    engine_->submit(std::move(request),
                    [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
    return promise.get_future().get();
  }

  std::shared_ptr<storage::Faults> faults_ = std::make_shared<storage::Faults>();
  storage::VirtualDisk disk_{faults_};
  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  std::unique_ptr<core::Engine> engine_;
};

class OrderChange : public testing::TestWithParam<GroupOrder> {};

TEST_P(OrderChange, ThatIsCutShortLeavesOneOrder) {
  const GroupOrder to = GetParam();
  const GroupOrder from = to == GroupOrder::push ? GroupOrder::due : GroupOrder::push;
  std::uint64_t calls = 1;
  int changed = 0;
  int kept = 0;
  for (std::uint64_t at = 1; at <= calls + 1 && !HasFailure(); ++at) {
    for (const bool power_failed : {false, true}) {
      ChangedStore store;
      ASSERT_TRUE(store.configure(from));
      calls = std::max(calls, store.change(to, at));
      store.come_back(power_failed, at);
      const GroupOrder order = store.order();
      ++(order == to ? changed : kept);
      const std::size_t expected = order == GroupOrder::push ? 1 : kKeys;
      EXPECT_EQ(store.claimed_of_one_group(), expected)
          << "call " << at << (power_failed ? ", then the power failed; " : ", killed; ")
          << "the order is " << to_string(order);
      const auto again = store.configure(to);
      EXPECT_TRUE(again) << again.error().message;
      EXPECT_EQ(store.claimed_of_one_group(), to == GroupOrder::push ? 1 : kKeys);
    }
  }
  std::cout << calls << " calls; changed " << changed << " times, kept " << kept << " times\n";
  EXPECT_GE(kept, 2);
  EXPECT_GT(changed, 0);
}

INSTANTIATE_TEST_SUITE_P(To, OrderChange, testing::Values(GroupOrder::push, GroupOrder::due),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace tarry::embedded
