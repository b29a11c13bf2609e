// <tarry/asio.h>: the verbs with completion tokens of Boost.Asio.
#include <tarry/asio.h>

#include <gtest/gtest.h>
#include <tarry/store.h>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tarry {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

class AsioTokens : public ::testing::Test {
 protected:
  Store store = *tarry::open("memory:?clock=manual");
  Queue queue = store.queue("q");
};

TEST_F(AsioTokens, FuturesOfEachVerb) {
  EXPECT_EQ(*async_push(queue, {.key = "k", .payload = "p"}, asio::use_future).get(),
            Outcome::pushed);
  EXPECT_EQ(async_get(queue, "k", asio::use_future).get()->payload, "p");
  EXPECT_EQ(*async_reschedule(queue, "k", in(30min), asio::use_future).get(), Outcome::rescheduled);
  auto waiting = async_claim(queue, {.wait = 1h}, asio::use_future);
  store.manual_clock()->advance(30min);
  const auto claimed = waiting.get();
  ASSERT_TRUE(claimed) << claimed.error();
  ASSERT_EQ(claimed->size(), 1u);
  const std::string receipt(claimed->front().receipt());
  EXPECT_EQ(*async_extend(queue, receipt, 5min, asio::use_future).get(), Outcome::done);
  EXPECT_EQ(*async_ack(queue, receipt, asio::use_future).get(), Outcome::done);
  EXPECT_EQ(*async_cancel(queue, "k", asio::use_future).get(), Outcome::unknown);
  const auto both = async_push_all(queue, {{.key = "a"}, {.key = "b"}}, asio::use_future).get();
  ASSERT_TRUE(both) << both.error();
  EXPECT_EQ(both->size(), 2u);
  const auto stats =
      async<QueueStats>([this](Callback<QueueStats> done) { queue.stats(std::move(done)); },
                        asio::use_future)
          .get();
  EXPECT_EQ(stats->ready, 2u);
}

TEST_F(AsioTokens, AHandlerRunsOnItsExecutorWhichHasWorkUntilThen) {
  asio::io_context loop;
  std::thread::id ran_on;
  // Handlers may be move-only, as this one is.
  auto owned = std::make_unique<int>(7);
  async_push(queue, {.key = "k"},
             asio::bind_executor(loop, [&, owned = std::move(owned)](Result<Pushed> pushed) {
               EXPECT_TRUE(pushed);
               EXPECT_EQ(*owned, 7);
               ran_on = std::this_thread::get_id();
             }));
  loop.run();  // returns only after the handler has run
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST_F(AsioTokens, AClaimEndsByAStopToken) {
  std::stop_source stop;
  auto waiting = async_claim(queue, {.wait = 1h, .stop = stop.get_token()}, asio::use_future);
  stop.request_stop();
  const auto claimed = waiting.get();
  ASSERT_TRUE(claimed) << claimed.error();
  EXPECT_TRUE(claimed->empty());
}

TEST_F(AsioTokens, ADeferredOperationBeginsWhenItIsAskedTo) {
  auto later = async_push(queue, {.key = "k"}, asio::deferred);
  EXPECT_FALSE(queue.get("k"));
  EXPECT_EQ(*std::move(later)(asio::use_future).get(), Outcome::pushed);
  EXPECT_TRUE(queue.get("k"));
}

TEST_F(AsioTokens, AClosedStoreSaysSo) {
  store.close();
  const auto refused = async_claim(queue, {}, asio::use_future).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::closed);
}

}  // namespace
}  // namespace tarry
