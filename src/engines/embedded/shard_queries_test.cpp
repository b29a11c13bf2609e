// How much one answer of get and list holds; forecasts over several slices and shards.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/engine.h"
#include "engines/embedded/embedded_engine.h"
#include "support/embedded/requests.h"
#include "timing/manual_clock.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kLimit = 100'000;

class ShardQueries : public testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    EmbeddedOptions options;
    options.shards = GetParam();
    options.limits.max_reply = kLimit;
    options.clock = std::make_shared<timing::ManualClock>();
    auto opened = open_embedded(options);
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }

  template <typename R>
  R ask(core::Request request) {
    std::promise<Result<core::Reply>> promise;
    engine_->submit(std::move(request),
                    [&](Result<core::Reply> reply) { promise.set_value(std::move(reply)); });
    auto reply = promise.get_future().get();
    EXPECT_TRUE(reply) << reply.error().message;
    return std::get<R>(std::move(*reply));
  }
  void push(const std::string& key, std::size_t payload) {
    const auto reply =
        ask<core::PushReply>(test::push("q", key.c_str(), Due(), std::string(payload, 'p')));
    ASSERT_FALSE(reply.items.at(0).error);
  }
  core::GetReply get(const std::string& key, int times, bool with_payload = true,
                     bool with_history = false) {
    core::GetRequest request;
    request.queue = "q";
    request.with_payload = with_payload;
    request.with_history = with_history;
    const core::Slice slice = core::append(request.bytes, key);
    for (int i = 0; i < times; ++i) request.keys.push_back(slice);
    return ask<core::GetReply>(std::move(request));
  }

  std::unique_ptr<core::Engine> engine_;
};
INSTANTIATE_TEST_SUITE_P(Shards, ShardQueries, testing::Values(1, 4));

TEST_P(ShardQueries, AGetAnswersWhatFitsAndNamesTheLimitForTheRest) {
  push("k", 30'000);
  const core::GetReply reply = get("k", 1'000);
  ASSERT_EQ(reply.items.size(), 1'000u);
  for (std::size_t i = 0; i < reply.items.size(); ++i) {
    const Result<MessageInfo>& item = reply.items[i];
    if (i < 3) {
      ASSERT_TRUE(item) << item.error().message;
      EXPECT_EQ(item->payload.size(), 30'000u);
      continue;
    }
    ASSERT_FALSE(item) << i;
    EXPECT_EQ(item.error().code, ErrorCode::too_large);
    EXPECT_NE(item.error().message.find("\"k\""), std::string::npos) << item.error().message;
    EXPECT_NE(item.error().message.find("100000"), std::string::npos) << item.error().message;
  }
}

// Histories are copied before anybody knows how long the answer is. So their sum is limited first.
TEST_P(ShardQueries, AGetCopiesNoMoreHistoriesThanAnAnswerHolds) {
  constexpr std::uint32_t kEvents = 100;
  core::ConfigureRequest configure;
  configure.queue = "q";
  configure.patch.history = kEvents;
  ask<core::ConfigureReply>(std::move(configure));
  push("k", 1);
  for (std::uint32_t i = 0; i < kEvents; ++i) {
    ask<core::ItemsReply>(test::reschedule("q", "k", Due::after(Millis(i))));
  }
  const core::GetReply reply = get("k", 1'000, false, true);
  std::size_t told = 0;
  for (const Result<MessageInfo>& item : reply.items) {
    if (item) {
      ++told;
      EXPECT_EQ(item->history.events.size(), kEvents);
      continue;
    }
    EXPECT_EQ(item.error().code, ErrorCode::too_large);
    EXPECT_NE(item.error().message.find("the histories are larger"), std::string::npos)
        << item.error().message;
    EXPECT_NE(item.error().message.find(std::to_string(kLimit)), std::string::npos);
  }
  EXPECT_GE(told, 1u);
  EXPECT_LE(told * kEvents * sizeof(MessageEvent), kLimit);
}

TEST_P(ShardQueries, AGetWithoutPayloadsHoldsMore) {
  push("k", 30'000);
  for (const Result<MessageInfo>& item : get("k", 100, false).items) {
    ASSERT_TRUE(item) << item.error().message;
    EXPECT_EQ(item->payload, "");
  }
}

TEST_P(ShardQueries, AGetAnswersItsFirstMessageWhateverItsSize) {
  push("k", 200'000);
  const core::GetReply reply = get("k", 2);
  ASSERT_TRUE(reply.items[0]);
  EXPECT_EQ(reply.items[0]->payload.size(), 200'000u);
  ASSERT_FALSE(reply.items[1]);
  EXPECT_EQ(reply.items[1].error().code, ErrorCode::too_large);
}

TEST_P(ShardQueries, AGetOfManyShardsHasOneLimit) {
  core::GetRequest request;
  request.queue = "q";
  for (int i = 0; i < 40; ++i) {
    const std::string key = "k" + std::to_string(i);
    push(key, 20'000);
    request.keys.push_back(core::append(request.bytes, key));
  }
  std::size_t answered = 0;
  for (const Result<MessageInfo>& item : ask<core::GetReply>(std::move(request)).items) {
    if (item) ++answered;
  }
  EXPECT_EQ(answered, 4u);
}

TEST_P(ShardQueries, AListIsCutIntoPagesByItsBytesAndLosesNothing) {
  constexpr std::size_t kMessages = 1'000;
  for (std::size_t i = 0; i < kMessages; ++i) push(std::string(400, 'k') + std::to_string(i), 1);
  core::ListRequest request;
  request.queue = "q";
  request.limit = 10'000;
  std::multiset<std::string> keys;
  std::size_t pages = 0;
  do {
    core::ListReply reply = ask<core::ListReply>(request);
    std::size_t bytes = 0;
    for (const MessageInfo& info : reply.messages) {
      bytes += info.key.size();
      keys.insert(info.key);
    }
    EXPECT_LT(bytes, kLimit);
    request.after = reply.next;
    ASSERT_LT(++pages, kMessages);
  } while (!request.after.empty());
  EXPECT_GT(pages, 4u);
  EXPECT_EQ(keys.size(), kMessages);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), kMessages);
}

TEST_P(ShardQueries, AForecastCountsAllOfManySlices) {
  constexpr std::size_t kBatches = 30;  // if there is one shard, this is more than a slice
  constexpr std::size_t kBatch = 10'000;
  for (std::size_t i = 0; i < kBatches; ++i) {
    core::PushRequest request;
    request.queue = "q";
    request.items.resize(kBatch);
    for (std::size_t k = 0; k < kBatch; ++k) request.items[k].due = in(Millis(1 + k));
    ASSERT_EQ(ask<core::PushReply>(std::move(request)).items.size(), kBatch);
  }
  push("now", 1);
  const auto forecast = ask<core::ForecastReply>(core::ForecastRequest{"q", Millis(1'000), 9});
  EXPECT_EQ(forecast.due_now, 1u);
  EXPECT_EQ(forecast.buckets, std::vector<std::uint64_t>(9, 1'000 * kBatches));
  EXPECT_EQ(forecast.later, 1'000 * kBatches);
}

TEST_P(ShardQueries, AForecastOfAQueueThatIsNotThereIsEmpty) {
  const auto forecast = ask<core::ForecastReply>(core::ForecastRequest{"none", Millis(1), 3});
  EXPECT_EQ(forecast.due_now + forecast.later, 0u);
  EXPECT_EQ(forecast.buckets, std::vector<std::uint64_t>(3, 0));
}

}  // namespace
}  // namespace tarry::embedded
