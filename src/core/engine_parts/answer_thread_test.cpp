#include "core/engine_parts/answer_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/engine.h"

namespace tarry::core {
namespace {

TEST(AnswerThread, RunsWhatIsPostedInOrderOnOneThreadOfTheEngine) {
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  {
    AnswerThread answers;
    for (int i = 0; i < 100; ++i) {
      answers.post([&, i] {
        EXPECT_TRUE(on_engine_thread());
        order.push_back(i);
        threads.push_back(std::this_thread::get_id());
      });
    }
  }
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  for (const std::thread::id thread : threads) EXPECT_EQ(thread, threads[0]);
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(AnswerThread, DoesNotKeepItsCallerFromHoldingALock) {
  std::mutex held;
  std::promise<void> ran;
  AnswerThread answers;
  {
    const std::scoped_lock lock(held);
    answers.post([&] {
      const std::scoped_lock inner(held);
      ran.set_value();
    });
  }
  ran.get_future().get();
}

TEST(AnswerThread, ATaskMayPostAndItRunsAfterThat) {
  bool second = false;
  {
    AnswerThread answers;
    std::promise<void> posted;
    answers.post([&] {
      answers.post([&] { second = true; });
      posted.set_value();
    });
    posted.get_future().get();
  }
  EXPECT_TRUE(second);
}

TEST(AnswerThread, IsDrainedWhenAllHasRunThatWasThere) {
  AnswerThread answers;
  answers.drain();
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i) {
    answers.post([&] {
      answers.drain();  // on its own thread: returns at once
      ++ran;
    });
  }
  answers.drain();
  EXPECT_EQ(ran.load(), 50);
}

// Each task posts another one, until `use` is over.
void with_tasks_that_go_on(const std::function<void(AnswerThread&)>& use) {
  std::atomic<bool> enough{false};
  std::function<void()> again;
  AnswerThread answers;
  again = [&] {
    if (!enough) answers.post([&] { again(); });
  };
  answers.post([&] { again(); });
  use(answers);
  enough = true;
}

TEST(AnswerThread, IsDrainedThoughEachTaskPostsAnother) {
  with_tasks_that_go_on([](AnswerThread& answers) { answers.drain(); });
}

TEST(AnswerThread, OnceRetiredItHasAThreadOnlyWhileThereIsSomethingToRun) {
  AnswerThread answers;
  bool ran = false;
  answers.post([&] { ran = true; });
  answers.retire();
  EXPECT_TRUE(ran);
  answers.retire();
  std::mutex held;
  std::promise<bool> second;
  {
    const std::scoped_lock lock(held);  // even then it does not run within `post`
    answers.post([&] {
      {
        const std::scoped_lock inner(held);
      }
      second.set_value(on_engine_thread());
    });
  }
  EXPECT_TRUE(second.get_future().get());
}

TEST(AnswerThread, IsRetiredThoughEachTaskPostsAnother) {
  with_tasks_that_go_on([](AnswerThread& answers) { answers.retire(); });
}

TEST(AnswerThread, MayBeRetiredByOneOfItsTasks) {
  bool after = false;
  {
    AnswerThread answers;
    answers.post([&] {
      answers.retire();
      answers.post([&] { after = true; });
    });
  }
  EXPECT_TRUE(after);
}

TEST(AnswerThread, MayBeDestroyedByOneOfItsTasks) {
  auto answers = std::make_shared<std::optional<AnswerThread>>(std::in_place);
  std::promise<void> all_posted;
  // The promise is shared, because nobody joins the thread, which may still be within set_value
  // when the test ends.
  const auto second_ran = std::make_shared<std::promise<bool>>();
  (*answers)->post([answers, posted = all_posted.get_future()]() mutable {
    posted.get();
    answers->reset();
  });
  (*answers)->post([second_ran] { second_ran->set_value(on_engine_thread()); });
  answers.reset();
  all_posted.set_value();
  EXPECT_TRUE(second_ran->get_future().get());
}

}  // namespace
}  // namespace tarry::core
