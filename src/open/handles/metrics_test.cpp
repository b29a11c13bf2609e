// The figures of a store for a program without a server.
#include <tarry/metrics.h>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tarry {
namespace {

using namespace std::chrono_literals;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

class MetricsOfAStore : public ::testing::Test {
 protected:
  void claim_late(const char* key, Millis lateness) {
    ASSERT_TRUE(queue.push({.key = key, .due = in(1min)}));
    store.manual_clock()->advance(1min + lateness);
    const auto claimed = queue.claim();
    ASSERT_EQ(claimed->size(), 1u);
    ASSERT_TRUE(queue.ack(claimed->front().receipt()));
  }

  Store store = *tarry::open("memory:?clock=manual");
  Queue queue = store.queue("orders");
};

TEST_F(MetricsOfAStore, LatenessIsThatOfFirstAttemptsFromNowOn) {
  claim_late("before", 7s);
  const Metrics metrics(store);
  EXPECT_TRUE(metrics.lateness().empty());
  claim_late("a", 0ms);
  claim_late("b", 2s);
  const auto lateness = metrics.lateness();
  ASSERT_EQ(lateness.size(), 1u);
  const LatenessHistogram& orders = lateness.at("orders");
  EXPECT_EQ(orders.count(), 2u);
  EXPECT_EQ(orders.counts[0], 1u);
  EXPECT_EQ(orders.counts[10], 1u);  // the bucket up to 2.5 s
  EXPECT_DOUBLE_EQ(orders.sum_seconds, 2);
}

TEST_F(MetricsOfAStore, TheTextHasLatenessAndTheStoresOwnFigures) {
  const Metrics metrics(store);
  claim_late("a", 2s);
  ASSERT_TRUE(queue.push({.key = "waits"}));
  store.manual_clock()->advance(5s);
  const auto text = metrics.text();
  ASSERT_TRUE(text) << text.error();
  EXPECT_TRUE(has_line(*text, R"(tarry_pushes_total{queue="orders"} 2)")) << *text;
  EXPECT_TRUE(has_line(*text, R"(tarry_messages{queue="orders",state="ready"} 1)")) << *text;
  EXPECT_TRUE(has_line(*text, R"(tarry_oldest_due_age_seconds{queue="orders"} 5)")) << *text;
  EXPECT_TRUE(has_line(*text, R"(tarry_lateness_seconds_count{queue="orders"} 1)")) << *text;
  EXPECT_TRUE(has_line(*text, R"(tarry_lateness_seconds_sum{queue="orders"} 2)")) << *text;
  EXPECT_EQ(text->find("tarry_http"), std::string::npos);
}

TEST_F(MetricsOfAStore, TheyMayBeReadWhileOthersClaim) {
  const Metrics metrics(store);
  constexpr int kMessages = 200;
  std::vector<std::thread> users;
  for (int i = 0; i < 2; ++i) {
    users.emplace_back([this] {
      for (int n = 0; n < kMessages; ++n) {
        EXPECT_TRUE(queue.push({.payload = "x"}));
        EXPECT_EQ((*queue.claim({.wait = 1h})).size(), 1u);
      }
    });
    users.emplace_back([&metrics] {
      for (int n = 0; n < kMessages; ++n) EXPECT_TRUE(metrics.text());
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(metrics.lateness().at("orders").count(), 2u * kMessages);
}

TEST(Metrics, MayOutliveTheStoreAndThenSaysClosed) {
  std::optional<Store> store = *tarry::open("memory:");
  const Metrics metrics(*store);
  ASSERT_TRUE(store->queue("q").push({.payload = "x"}));
  ASSERT_TRUE(store->queue("q").claim());
  store.reset();
  EXPECT_EQ(metrics.text().error().code, ErrorCode::closed);
  EXPECT_EQ(metrics.lateness().at("q").count(), 1u);
  Store taken = *tarry::open("memory:");
  const Store other = std::move(taken);
  const Metrics of_none(taken);  // NOLINT(bugprone-use-after-move): the test is about it
  EXPECT_EQ(of_none.text().error().code, ErrorCode::closed);
}

}  // namespace
}  // namespace tarry
