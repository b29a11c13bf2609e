// A caller that waits for its answer runs the remote engine's loop: LentLoop alone, and the engine
// with a server that the test plays.
#include "engines/remote/lent_loop.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "engines/remote/remote_engine.h"
#include "support/raw_server.h"
#include "wire/service.h"

namespace tarry::remote {
namespace {

namespace asio = boost::asio;
using tarry::testing::RawConnection;

class LentLoopTest : public ::testing::Test {
 protected:
  LentLoopTest() { loop_.start("test-loop"); }
  ~LentLoopTest() override { end(); }

  void end() {
    if (!guard_) return;
    loop_.post([this] { guard_.reset(); });
    loop_.join();
  }

  // Callers come until one of them has the loop.
  void take() {
    while (!loop_.take()) {
      std::promise<void> ran;
      loop_.post([&] { ran.set_value(); });
      ran.get_future().get();
    }
  }

  std::atomic<bool> idle_ = true;
  LentLoop loop_{[this] { return idle_.load(); }};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> guard_{
      loop_.io().get_executor()};
  const std::thread::id caller_ = std::this_thread::get_id();
};

TEST_F(LentLoopTest, a_caller_runs_what_others_post) {
  take();
  std::thread::id ran_on;
  bool lent = false;
  bool done = false;
  std::thread other([&] {
    loop_.post([&] {
      ran_on = std::this_thread::get_id();
      lent = core::on_lent_thread();
      done = true;
    });
  });
  loop_.lend(done);
  other.join();
  EXPECT_EQ(ran_on, caller_);
  EXPECT_TRUE(lent);
  EXPECT_FALSE(core::on_engine_thread());
}

TEST_F(LentLoopTest, one_caller_at_a_time_has_it) {
  take();
  EXPECT_FALSE(std::async(std::launch::async, [&] { return loop_.take(); }).get());
  loop_.lend(true);
}

TEST_F(LentLoopTest, the_own_thread_does_what_a_caller_leaves_behind) {
  take();
  std::promise<std::thread::id> ran_on;
  loop_.post([&] { ran_on.set_value(std::this_thread::get_id()); });
  loop_.lend(true);
  EXPECT_NE(ran_on.get_future().get(), caller_);
}

TEST_F(LentLoopTest, the_own_thread_keeps_the_loop_while_somebody_waits_for_an_answer) {
  take();
  idle_ = false;
  loop_.lend(true);
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(loop_.take());
    std::promise<void> ran;
    loop_.post([&] { ran.set_value(); });
    ran.get_future().get();
  }
  idle_ = true;
  take();
  loop_.lend(true);
}

// What nobody posts by the loop itself: the end of an idle connection, a timer.
TEST_F(LentLoopTest, the_own_thread_comes_back_when_no_caller_comes) {
  take();
  loop_.lend(true);
  std::promise<std::thread::id> ran_on;
  asio::post(loop_.io(), [&] { ran_on.set_value(std::this_thread::get_id()); });
  EXPECT_NE(ran_on.get_future().get(), caller_);
}

TEST_F(LentLoopTest, ends_although_a_caller_has_it) {
  take();
  loop_.post([this] { guard_.reset(); });
  loop_.lend(false);
  loop_.join();
}

// The engine, with a server of one thread a connection. It answers each push at once, and a claim
// when the test says so.
class LentEngineTest : public ::testing::Test {
 protected:
  ~LentEngineTest() override {
    if (engine_) engine_->close();
    ended_ = true;
    RemoteOptions last;
    last.port = server_.port();
    EXPECT_FALSE(open_remote(last));  // wakes the thread that accepts
    accepting_.join();
    for (std::thread& thread : connections_) thread.join();
  }

  void SetUp() override {
    accepting_ = std::thread([this] {
      while (true) {
        auto connection = std::make_shared<RawConnection>(server_.accept());
        if (ended_.load()) return;
        connections_.emplace_back([this, connection = std::move(connection)] {
          while (true) {
            const net::HttpMessage request = connection->receive();
            if (request.method.empty()) return;
            connection->answer(answer_to(request.target));
          }
        });
      }
    });
    RemoteOptions options;
    options.port = server_.port();
    auto engine = open_remote(options);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = std::move(*engine);
  }

  std::string answer_to(std::string_view target) {
    if (target == "/healthz") {
      wire::Health health;
      health.capabilities.engine = "embedded";
      health.capabilities.joins = true;
      return wire::encode_health(health);
    }
    if (target == "/v1/claim") {
      claim_came_.set_value();
      answer_claim_.get_future().get();
      return R"({"messages":[]})";
    }
    return R"({"results":[{"outcome":"pushed","id":"1","key":"k","due_ms":5}]})";
  }

  static core::Request claim() {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.wait = Millis(60'000);
    return request;
  }
  static core::Request push() {
    core::PushRequest request{"q", {}, {}};
    request.items.emplace_back().key = core::append(request.bytes, "k");
    return request;
  }

  struct Answered {
    Result<core::Reply> reply;
    std::thread::id on;
  };
  using Promise = std::shared_ptr<std::promise<Answered>>;

  static core::Completion recording(const Promise& promise) {
    return [promise](Result<core::Reply> reply) {
      promise->set_value({std::move(reply), std::this_thread::get_id()});
    };
  }
  Answered ask_waiting(core::Request request) {
    const auto promise = std::make_shared<std::promise<Answered>>();
    auto answered = promise->get_future();
    engine_->submit_waiting(std::move(request), recording(promise));
    return answered.get();
  }
  std::future<Answered> ask(core::Request request) {
    const auto promise = std::make_shared<std::promise<Answered>>();
    auto answered = promise->get_future();
    engine_->submit(std::move(request), recording(promise));
    return answered;
  }
  // Asks until an answer comes on the thread that asks.
  void rest_own_thread() {
    while (true) {
      const Answered answered = ask_waiting(push());
      ASSERT_TRUE(answered.reply);
      if (answered.on == std::this_thread::get_id()) return;
    }
  }

  testing::RawServer server_;
  std::atomic<bool> ended_ = false;
  std::promise<void> claim_came_;
  std::promise<void> answer_claim_;
  std::thread accepting_;
  std::vector<std::thread> connections_;
  std::unique_ptr<core::Engine> engine_;
};

TEST_F(LentEngineTest, a_caller_completes_its_request_itself) { rest_own_thread(); }

TEST_F(LentEngineTest, a_caller_runs_no_other_callers_callback) {
  rest_own_thread();
  auto waiting = std::async(std::launch::async, [&] { return ask_waiting(claim()); });
  claim_came_.get_future().get();
  const Answered other = ask(push()).get();
  EXPECT_TRUE(other.reply);
  answer_claim_.set_value();
  const Answered claimed = waiting.get();
  EXPECT_TRUE(claimed.reply);
  EXPECT_NE(other.on, claimed.on);
}

TEST_F(LentEngineTest, closing_answers_a_caller_that_has_the_loop) {
  rest_own_thread();
  auto waiting = std::async(std::launch::async, [&] { return ask_waiting(claim()); });
  claim_came_.get_future().get();
  auto closed = std::async(std::launch::async, [&] { engine_->close(); });
  const Answered claimed = waiting.get();
  ASSERT_FALSE(claimed.reply);
  EXPECT_EQ(claimed.reply.error().code, ErrorCode::closed);
  answer_claim_.set_value();
  closed.get();
  EXPECT_EQ(ask_waiting(push()).reply.error().code, ErrorCode::closed);
}

TEST_F(LentEngineTest, callers_and_callbacks_are_all_answered) {
  constexpr int kCallers = 4;
  constexpr int kEach = 300;
  std::atomic<int> answered = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < kEach; ++i) {
        const bool waits = (i + caller) % 3 != 0;
        const Answered one = waits ? ask_waiting(push()) : ask(push()).get();
        if (one.reply) answered.fetch_add(1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answered.load(), kCallers * kEach);
}

}  // namespace
}  // namespace tarry::remote
