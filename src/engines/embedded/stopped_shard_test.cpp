// If one of several shards has stopped, a request's error reports the work of the other shards. It
// does not claim that nothing was done.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "engines/embedded/embedded_engine.h"
#include "support/disks/virtual_disk.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

constexpr std::uint32_t kShards = 4;
constexpr std::uint64_t kMessages = 80;

class StoppedShard : public testing::Test {
 protected:
  StoppedShard() {
    EmbeddedOptions options;
    options.directory = [this] { return disk_.root(); };
    options.shards = kShards;
    options.clock = std::make_shared<timing::ManualClock>();
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
  static std::vector<std::string> keys() {
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < kMessages; ++i) keys.push_back("k" + std::to_string(i));
    return keys;
  }
  void push_all() { ASSERT_TRUE(ask(test::push("q", keys(), in(std::chrono::hours(1))))); }
  // The next sync fails, and with it the shard of that key.
  void stop_one() {
    storage::FaultPlan plan;
    plan.syncs_only = true;
    faults_->arm(plan);
    EXPECT_FALSE(ask(test::push("q", "the last straw")));
    faults_->disarm();
  }
  Error error_of(core::Request request) {
    const auto reply = ask(std::move(request));
    EXPECT_FALSE(reply);
    return reply ? Error() : reply.error();
  }
  static void expect_partly(const Error& error, const std::string& text) {
    EXPECT_EQ(error.code, ErrorCode::unknown_outcome) << error.message;
    EXPECT_EQ(error.message.substr(0, text.size()), text) << error.message;
  }

  std::shared_ptr<storage::Faults> faults_ = std::make_shared<storage::Faults>();
  storage::VirtualDisk disk_{faults_};
  std::unique_ptr<core::Engine> engine_;
};

TEST_F(StoppedShard, QueueVerbsTellHowFarTheyCame) {
  push_all();
  stop_one();
  expect_partly(error_of(core::PauseRequest{"q", std::nullopt}),
                "pause of queue q is done in part (on 3 of its 4 shards), and the same request "
                "again does the rest: ");
  expect_partly(error_of(core::ResumeRequest{"q"}),
                "resume of queue q is done in part (on 3 of its 4 shards)");
  core::ConfigureRequest configure;
  configure.queue = "q";
  configure.patch.max_attempts = 3;
  expect_partly(error_of(configure), "configure of queue q is done in part (on 3 of its 4 shards)");
  // The second time nothing is left to change on the shards that answer.
  EXPECT_EQ(error_of(configure).code, ErrorCode::io_error);
  core::ReviveRequest revive;
  revive.queue = "q";
  revive.all = true;
  EXPECT_EQ(error_of(revive).code, ErrorCode::io_error);
}

TEST_F(StoppedShard, APurgeTellsHowManyHaveGone) {
  push_all();
  stop_one();
  const Error error = error_of(core::PurgeRequest{"q"});
  EXPECT_EQ(error.code, ErrorCode::unknown_outcome) << error.message;
  std::uint64_t left = 0;
  core::GetRequest get;
  get.queue = "q";
  for (const std::string& key : keys()) get.keys.push_back(core::append(get.bytes, key));
  const auto got = ask(get);
  ASSERT_TRUE(got) << got.error().message;
  for (const auto& item : std::get<core::GetReply>(*got).items) {
    ASSERT_FALSE(item);  // purged, or its shard has stopped
    left += item.error().code == ErrorCode::io_error ? 1 : 0;
  }
  EXPECT_GT(left, 0u);
  EXPECT_LT(left, kMessages);
  EXPECT_NE(error.message.find("(" + std::to_string(kMessages - left) + " messages)"),
            std::string::npos)
      << error.message;
}

TEST_F(StoppedShard, ABatchTellsOfEachItem) {
  push_all();
  stop_one();
  core::CancelRequest cancel;
  cancel.queue = "q";
  for (const std::string& key : keys()) cancel.keys.push_back(core::append(cancel.bytes, key));
  const auto reply = ask(cancel);
  ASSERT_TRUE(reply) << reply.error().message;
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;
  for (const auto& item : std::get<core::ItemsReply>(*reply).items) {
    if (item.error) {
      EXPECT_EQ(item.error->code, ErrorCode::io_error) << item.error->message;
      ++failed;
    } else {
      EXPECT_EQ(item.outcome, Outcome::cancelled);
      ++cancelled;
    }
  }
  EXPECT_GT(cancelled, 0u);
  EXPECT_GT(failed, 0u);
}

}  // namespace
}  // namespace tarry::embedded
