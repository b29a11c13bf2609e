// Checks which types can be used as callbacks.
#include <gtest/gtest.h>
#include <tarry/store.h>

#include <functional>
#include <future>
#include <memory>
#include <utility>

namespace tarry {
namespace {

TEST(Callbacks, MayOwnWhatCanOnlyBeMoved) {
  const Store store = *tarry::open("memory:");
  const Queue q = store.queue("q");
  auto owned = std::make_unique<std::promise<Outcome>>();
  auto told = owned->get_future();
  q.push({.key = "k"},
         [owned = std::move(owned)](Result<Pushed> pushed) { owned->set_value(pushed->outcome); });
  EXPECT_EQ(told.get(), Outcome::pushed);
  auto end = std::make_unique<std::promise<std::size_t>>();
  auto claimed = end->get_future();
  q.claim({.max = 2},
          [end = std::move(end)](auto deliveries) { end->set_value(deliveries->size()); });
  EXPECT_EQ(claimed.get(), 1u);
}

TEST(Callbacks, EmptyOnesOfAnyKindDropTheAnswer) {
  const Store store = *tarry::open("memory:");
  const Queue q = store.queue("q");
  q.push({.key = "a"}, nullptr);
  q.push({.key = "b"}, std::function<void(Result<Pushed>)>());
  q.push({.key = "c"}, Callback<Pushed>());
  EXPECT_EQ(q.stats()->ready, 3u);
}

}  // namespace
}  // namespace tarry
