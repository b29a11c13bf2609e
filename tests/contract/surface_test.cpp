// The two forms of each verb: where callbacks run, what a blocking verb does within a callback, and
// how everything ends when the store is closed.
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "contract.h"
#include "core/limits.h"

namespace tarry::contract {
namespace {

// One thread that runs its tasks in order.
class OwnThread {
 public:
  OwnThread() : thread_([this] { run(); }) {}
  ~OwnThread() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  [[nodiscard]] Executor executor() {
    return [this](std::function<void()> task) {
      {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
      }
      changed_.notify_one();
    };
  }
  [[nodiscard]] std::thread::id id() const { return thread_.get_id(); }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ended_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ended_ = false;
  std::thread thread_;
};

class Surface : public Contract {};
TARRY_ON_ALL_ENGINES(Surface);

// Calls each verb once with a callback, checks the answers, and collects the threads.
std::vector<std::thread::id> each_verb_with_callback(const Store& store) {
  const Queue q = store.queue("q");
  std::vector<std::thread::id> threads;
  const auto take = [&threads](const auto& pending) {
    auto value = must(pending.get());
    threads.push_back(pending.thread());
    return value;
  };
  {
    Pending<QueueSettings> done;
    q.configure({.remember = 1h}, done.callback());
    EXPECT_EQ(take(done).remember, 1h);
  }
  {
    Pending<Pushed> done;
    q.push({.key = "k", .payload = "x"}, done.callback());
    EXPECT_EQ(take(done).outcome, Outcome::pushed);
  }
  {
    const std::vector<Push> messages = {{.key = "k", .payload = "y"}, {.key = "l", .payload = "y"}};
    Pending<std::vector<Result<Pushed>>> done;
    q.push(messages, done.callback());
    EXPECT_EQ(must(take(done).at(1)).key, "l");
  }
  {
    Pending<Answer> done;
    q.reschedule("k", in(1h), done.callback());
    EXPECT_EQ(take(done), Outcome::rescheduled);
  }
  {
    const Reschedule items[] = {{.key = "k", .due = in(0s), .priority = 1}};
    Pending<std::vector<Result<Answer>>> done;
    q.reschedule(items, done.callback());
    EXPECT_EQ(must(take(done).at(0)), Outcome::rescheduled);
  }
  {
    Pending<MessageInfo> done;
    q.get("k", done.callback());
    EXPECT_EQ(take(done).payload, "x");
  }
  std::vector<Delivery> claimed;
  {
    Pending<std::vector<Delivery>> done;
    q.claim({.max = 2, .lease = kLongLease}, done.callback());
    claimed = take(done);
    EXPECT_EQ(claimed.size(), 2u);
  }
  {
    Pending<Answer> done;
    q.extend(claimed.at(0).receipt(), 1h, done.callback());
    EXPECT_EQ(take(done), Outcome::done);
  }
  {
    Pending<Answer> done;
    q.settle(Settle{.receipt = claimed.at(0).receipt(), .action = Action::bury, .reason = "r"},
             done.callback());
    EXPECT_EQ(take(done), Outcome::done);
  }
  {
    const Settle items[] = {
        {.receipt = claimed.at(1).receipt(), .action = Action::ack, .reason = {}}};
    Pending<std::vector<Result<Answer>>> done;
    q.settle(items, done.callback());
    EXPECT_EQ(must(take(done).at(0)), Outcome::done);
  }
  {
    Pending<std::uint64_t> done;
    q.revive({}, done.callback());
    EXPECT_EQ(take(done), 1u);
  }
  {
    Pending<QueueStats> done;
    q.stats(done.callback());
    EXPECT_EQ(take(done).ready, 1u);
  }
  {
    Pending<StoreStats> done;
    store.stats(done.callback());
    EXPECT_EQ(take(done).queues.size(), 1u);
  }
  {
    Pending<Page> done;
    q.list({}, done.callback());
    EXPECT_EQ(take(done).messages.size(), 2u);
  }
  {
    const std::string_view queues[] = {"q", "r"};
    Pending<std::vector<Delivery>> done;
    store.claim(queues, {.lease = kLongLease}, done.callback());
    claimed = take(done);
    EXPECT_EQ(claimed.size(), 1u);
    EXPECT_EQ(must(q.release(claimed.at(0).receipt())), Outcome::done);
  }
  {
    const std::string key(claimed.at(0).key());
    const std::string_view keys[] = {key, "no"};
    Pending<std::vector<Result<Answer>>> done;
    q.cancel(keys, done.callback());
    EXPECT_EQ(must(take(done).at(1)), Outcome::unknown);
    Pending<Answer> again;
    q.cancel(key, again.callback());
    EXPECT_EQ(take(again), Outcome::settled);
  }
  {
    Pending<std::uint64_t> done;
    q.purge(done.callback());
    EXPECT_EQ(take(done), 0u);
  }
  {
    Pending<PauseOutcome> paused;
    q.pause({}, paused.callback());
    EXPECT_EQ(must(paused.get()), PauseOutcome::paused);
    threads.push_back(paused.thread());
    EXPECT_TRUE(must(q.stats()).paused);
    Pending<void> resumed;
    q.resume(resumed.callback());
    must(resumed.get());
    threads.push_back(resumed.thread());
    EXPECT_FALSE(must(q.stats()).paused);
  }
  return threads;
}

TEST_P(Surface, EachVerbAnswersItsCallbackOnce) {
  const std::vector<std::thread::id> threads = each_verb_with_callback(store());
  EXPECT_EQ(threads.size(), 20u);
  for (const std::thread::id& thread : threads) EXPECT_NE(thread, std::this_thread::get_id());
}

// A callback may lock a mutex that the caller holds during the verb. So it never runs within the
// verb, even if the answer is known at once.
TEST_P(Surface, NoCallbackRunsWithinItsVerb) {
  const Queue q = queue();
  (void)must(q.configure({}));
  const auto elsewhere = [](const auto& pending, ErrorCode code, int line) {
    const auto result = pending.get();
    ASSERT_FALSE(result) << "line " << line;
    EXPECT_EQ(result.error().code, code) << "line " << line;
    EXPECT_NE(pending.thread(), std::this_thread::get_id()) << "line " << line;
  };
  {
    Pending<Pushed> done;
    queue("-bad").push({.key = "k", .payload = "x"}, done.callback());
    elsewhere(done, ErrorCode::invalid_argument, __LINE__);
  }
  {
    Pending<Pushed> done;  // a batch of one bad item
    q.push({.key = "k", .payload = std::string(core::kDefaultMaxPayload + 1, 'x')},
           done.callback());
    elsewhere(done, ErrorCode::too_large, __LINE__);
  }
  {
    Pending<Answer> done;
    q.settle({.receipt = "no receipt", .action = Action::ack, .reason = {}}, done.callback());
    elsewhere(done, ErrorCode::invalid_argument, __LINE__);
  }
  {
    Pending<std::vector<Delivery>> done;
    q.claim({.max = 0}, done.callback());
    elsewhere(done, ErrorCode::invalid_argument, __LINE__);
  }
  {
    ListOptions options;
    options.after = "not a page's next";
    Pending<Page> done;
    q.list(options, done.callback());
    elsewhere(done, ErrorCode::invalid_argument, __LINE__);
  }
  {
    Pending<Forecast> done;
    q.forecast({.width = 0s}, done.callback());
    elsewhere(done, ErrorCode::invalid_argument, __LINE__);
  }
  store().close();
  {
    Pending<Pushed> done;
    q.push({.key = "k", .payload = "x"}, done.callback());
    elsewhere(done, ErrorCode::closed, __LINE__);
  }
  {
    Pending<std::vector<Delivery>> done;
    q.claim({.wait = 1h}, done.callback());
    elsewhere(done, ErrorCode::closed, __LINE__);
  }
  drop_rig();
}

TEST_P(Surface, AQueueInRedisGetsOtherShardsAndNoOtherDoes) {
  ASSERT_TRUE(queue().push({.key = "k", .payload = "x", .due = in(1h)}));
  const auto step = queue().reshard(7);
  if (!is(Kind::redis)) {
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, ErrorCode::unsupported) << step.error().message;
    return;
  }
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_TRUE(step->done);
  EXPECT_TRUE(step->changed);
  EXPECT_EQ(step->moved, 1u);
  const auto again = queue().reshard(7);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->done);
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(*queue().get("k")->payload.data(), 'x');
  EXPECT_EQ(queue().reshard(0).error().code, ErrorCode::invalid_argument);
}

// The callback holds the last handle: when it drops the handle, the store ends.
TEST_P(Surface, ACallbackMayHoldTheLastHandleOfAClosedStore) {
  std::optional<Queue> mine = queue();
  const auto last = std::make_shared<std::optional<Queue>>(mine);
  store().close();
  drop_rig();
  std::promise<void> dropped;
  Pending<Pushed> pending;
  mine->push({.payload = "x"}, [last, others = dropped.get_future().share(),
                                answered = pending.callback()](Result<Pushed> result) mutable {
    others.wait();
    last->reset();
    answered(std::move(result));
  });
  mine.reset();
  dropped.set_value();
  const Result<Pushed> result = pending.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::closed);
}

TEST_P(Surface, CallbacksRunOnTheExecutor) {
  OwnThread own;
  Rig with_executor(GetParam(), own.executor());
  for (const std::thread::id& thread : each_verb_with_callback(with_executor.store())) {
    EXPECT_EQ(thread, own.id());
  }
  with_executor.close();
}

TEST_P(Surface, BlockingVerbsWorkInCallbacksOnTheExecutor) {
  OwnThread own;
  Rig with_executor(GetParam(), own.executor());
  const Queue q = with_executor.store().queue("q");
  Pending<Pushed> inner;
  q.push({.key = "a", .payload = "x"}, [&, inner_done = inner.callback()](Result<Pushed>) mutable {
    inner_done(q.push({.key = "b", .payload = "x"}));
  });
  EXPECT_EQ(must(inner.get()).key, "b");
  with_executor.close();
}

TEST_P(Surface, ABlockingVerbOnTheEnginesThreadIsMisuse) {
  const Queue q = queue();
  Pending<Pushed> inner;
  q.push({.key = "a", .payload = "x"}, [&, inner_done = inner.callback()](Result<Pushed>) mutable {
    inner_done(q.push({.key = "b", .payload = "x"}));
  });
  const Result<Pushed> result = inner.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::misuse);
  EXPECT_FALSE(find(q, "b"));
}

TEST_P(Surface, AVerbWithACallbackWorksOnTheEnginesThread) {
  const Queue q = queue();
  Pending<Pushed> inner;
  q.push({.key = "a", .payload = "x"},
         [&](Result<Pushed>) { q.push({.key = "b", .payload = "x"}, inner.callback()); });
  EXPECT_EQ(must(inner.get()).key, "b");
  EXPECT_EQ(claim_all(q).size(), 2u);
}

TEST_P(Surface, CallbacksOfOneCallerSeeTheirOrder) {
  const Queue q = queue();
  std::vector<Pending<Pushed>> pushes(50);
  std::vector<Pending<Answer>> cancels(50);
  for (std::size_t i = 0; i < 50; ++i) {
    // Each push is awaited before its cancel. Otherwise the order of both would only be certain if
    // the engine keeps the order of a connection.
    q.push({.key = std::to_string(i), .payload = "x", .due = in(1h)}, pushes[i].callback());
  }
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(must(pushes[i].get()).outcome, Outcome::pushed);
    q.cancel(std::to_string(i), cancels[i].callback());
  }
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(must(cancels[i].get()), Outcome::cancelled);
}

TEST_P(Surface, DeliveriesOutliveTheStore) {
  (void)must(queue().push({.key = "k", .payload = "x", .headers = {{"h", "v"}}}));
  const Delivery delivery = claim_one(queue());
  store().close();
  EXPECT_EQ(delivery.key(), "k");
  EXPECT_EQ(delivery.payload(), "x");
  EXPECT_EQ(delivery.header("h"), "v");
  drop_rig();
  EXPECT_EQ(delivery.payload(), "x");
}

TEST_P(Surface, EveryVerbAnswersClosedOnceTheStoreIs) {
  const Queue q = queue();
  const Store again = store();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const std::string receipt(claim_one(q).receipt());
  store().close();
  store().close();  // idempotent
  const auto closed = [](const auto& result, int line) {
    ASSERT_FALSE(result) << "line " << line;
    EXPECT_EQ(result.error().code, ErrorCode::closed) << "line " << line;
  };
  const Settle settle{.receipt = receipt, .action = Action::ack, .reason = {}};
  closed(q.push({.key = "l", .payload = "x"}), __LINE__);
  closed(q.cancel("k"), __LINE__);
  closed(q.reschedule("k", in(1s)), __LINE__);
  closed(q.get("k"), __LINE__);
  closed(q.claim(), __LINE__);
  closed(q.claim({.wait = 1h}), __LINE__);
  closed(q.ack(receipt), __LINE__);
  closed(q.extend(receipt), __LINE__);
  closed(q.stats(), __LINE__);
  closed(q.list(), __LINE__);
  closed(q.configure({}), __LINE__);
  closed(q.pause(), __LINE__);
  closed(q.resume(), __LINE__);
  closed(q.purge(), __LINE__);
  closed(q.revive(), __LINE__);
  closed(again.stats(), __LINE__);
  closed(again.settle(std::span(&settle, 1)), __LINE__);
  Pending<Pushed> pending;
  q.push({.key = "l", .payload = "x"}, pending.callback());
  closed(pending.get(), __LINE__);
  drop_rig();
  closed(q.push({.key = "l", .payload = "x"}), __LINE__);
}

TEST_P(Surface, AllThatIsOutstandingIsAnsweredWhenTheStoreCloses) {
  const Queue q = queue();
  (void)must(q.configure({}));
  std::vector<Pending<Pushed>> pushes(200);
  std::vector<Pending<std::vector<Delivery>>> claims(20);
  for (auto& claim : claims) q.claim({.lease = kLongLease, .wait = 1h}, claim.callback());
  for (std::size_t i = 0; i < pushes.size(); ++i) {
    q.push({.key = std::to_string(i), .payload = "x", .due = in(1h)}, pushes[i].callback());
  }
  store().close();
  for (auto& push : pushes) {
    const Result<Pushed> result = push.get();
    // The push was done, or did not begin, or its connection was closed while it was on its way;
    // but it is always answered.
    if (!result) {
      EXPECT_TRUE(result.error().code == ErrorCode::closed ||
                  (is_remote() && result.error().code == ErrorCode::unknown_outcome))
          << result.error().message;
    }
  }
  for (auto& claim : claims) {
    const auto result = claim.get();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::closed);
  }
  drop_rig();
}

}  // namespace
}  // namespace tarry::contract
