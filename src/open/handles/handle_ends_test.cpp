// Handles after their end: handles of a closed store, and moved-from handles.
#include <gtest/gtest.h>
#include <tarry/store.h>

#include <filesystem>
#include <future>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "open/urls/store_url.h"
#include "support/temp_directory.h"

namespace tarry {
namespace {

ErrorCode code_of(const auto& result) {
  return result ? ErrorCode::invalid_argument : result.error().code;
}

// Expects that blocking verbs and callbacks say `closed`, and that no callback runs within its
// verb.
void expect_closed(const Queue& queue) {
  EXPECT_EQ(code_of(queue.push({.key = "k"})), ErrorCode::closed);
  EXPECT_EQ(code_of(queue.claim({.max = 10})), ErrorCode::closed);
  EXPECT_EQ(code_of(queue.pause()), ErrorCode::closed);
  EXPECT_EQ(code_of(queue.ack("x")), ErrorCode::closed);
  std::mutex held;
  std::promise<ErrorCode> told;
  {
    const std::lock_guard lock(held);
    queue.stats([&](const Result<QueueStats>& stats) {
      {
        const std::lock_guard inner(held);
      }
      told.set_value(code_of(stats));
    });
  }
  EXPECT_EQ(told.get_future().get(), ErrorCode::closed);
}

TEST(MovedAway, AQueueIsClosed) {
  const Store store = *tarry::open("memory:");
  Queue queue = store.queue("q");
  const Queue taken = std::move(queue);
  expect_closed(queue);  // NOLINT(bugprone-use-after-move): the test is about it
  EXPECT_TRUE(taken.push({.key = "k"}));
}

TEST(MovedAway, AStoreIsClosed) {
  Store store = *tarry::open("memory:?clock=manual");
  const Store taken = std::move(store);
  // NOLINTBEGIN(bugprone-use-after-move): the test is about it
  expect_closed(store.queue("q"));
  EXPECT_EQ(code_of(store.stats()), ErrorCode::closed);
  EXPECT_FALSE(store.manual_clock());
  store.close();
  const Store copy = store;
  EXPECT_EQ(code_of(copy.stats()), ErrorCode::closed);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(taken.stats());
}

TEST(MovedAway, ADeliveryIsEmptyAndAClockGoesOn) {
  ManualClock clock;
  const Store store = *tarry::open("memory:", {.clock = clock});
  const Queue queue = store.queue("q");
  ASSERT_TRUE(queue.push({.key = "k", .payload = "body"}));
  Delivery delivery = (*queue.claim()).front();
  const Delivery taken = std::move(delivery);
  ManualClock other = std::move(clock);
  other.advance(Millis(5));
  // NOLINTBEGIN(bugprone-use-after-move): the test is about it
  EXPECT_EQ(delivery.payload(), "");
  EXPECT_EQ(delivery.id(), 0u);
  EXPECT_TRUE(delivery.headers().empty());
  EXPECT_FALSE(delivery.header("a"));
  EXPECT_EQ(clock.now(), other.now());
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(taken.payload(), "body");
}

TEST(ClosedStore, AnswersClosedAsLongAsAHandleIsThere) {
  const storage::TempDirectory directory;
  for (const std::string& url :
       {std::string("memory:?shards=3"), file_url(directory.path() + "/s")}) {
    Store store = *tarry::open(url);
    const Queue queue = store.queue("q");
    ASSERT_TRUE(queue.push({.key = "k"}));
    store.close();
    expect_closed(queue);
    store.close();
  }
}

TEST(HandleWords, TakeListsOfEachKind) {
  const Store store = *tarry::open("memory:");
  const Queue queue = store.queue("q");
  const auto pushed = queue.push({{.key = "a", .payload = "1"}, {.key = "b", .payload = "2"}});
  ASSERT_TRUE(pushed) << pushed.error();
  ASSERT_EQ(pushed->size(), 2u);
  EXPECT_EQ(*pushed->front(), Outcome::pushed);
  const auto claimed = store.claim({"q", "other"}, {.max = 2});
  ASSERT_TRUE(claimed) << claimed.error();
  ASSERT_EQ(claimed->size(), 2u);
  const auto ended = queue.settle({{.receipt = (*claimed)[0].receipt()},
                                   {.receipt = (*claimed)[1].receipt(), .action = Action::bury}});
  ASSERT_TRUE(ended) << ended.error();
  EXPECT_EQ(*ended->back(), Outcome::done);
  EXPECT_EQ(*queue.revive({"a", "b"}), 1u);
}

TEST(HandleWords, TakePayloadsOfBytes) {
  const Store store = *tarry::open("memory:");
  const Queue queue = store.queue("q");
  const std::vector<std::byte> one{std::byte{0}, std::byte{255}};
  const std::vector<unsigned char> two{1, 2, 3};
  ASSERT_TRUE(
      queue.push({{.key = "a", .payload = bytes(one)}, {.key = "b", .payload = bytes(two)}}));
  EXPECT_EQ(queue.get("a")->payload, std::string("\0\xFF", 2));
  EXPECT_EQ(queue.get("b")->payload, "\1\2\3");
}

TEST(HandleWords, PrintTheirWords) {
  std::ostringstream text;
  text << Outcome::stopping << ' ' << State::dead << ' ' << Action::bury << ' ' << IfExists::earlier
       << ' ' << PauseOutcome::already_over;
  EXPECT_EQ(text.str(), "stopping dead bury earlier already_over");
}

TEST(HandleWords, APauseUntilATimeThatHasPassedIsToldApart) {
  const Store store = *tarry::open("memory:?clock=manual");
  const Queue queue = store.queue("q");
  ASSERT_TRUE(queue.push({.key = "k"}));
  EXPECT_EQ(*queue.pause(), PauseOutcome::paused);
  EXPECT_EQ(*queue.pause(store.manual_clock()->now() - Millis(1)), PauseOutcome::already_over);
  EXPECT_FALSE(queue.stats()->paused);
}

TEST(FileUrl, NamesTheDirectoryWhateverItIsCalled) {
  for (const std::string path :
       {"a", "/tmp/a%41", "/x?sync=os", "a#b", "~", "~/x", "//host/x", "/a b\t\n", "./\xE6\x97\xA5",
        "/\xFF\xFE", "user@host:x", "a&b=c;d+e", "/var/lib/tarry-1.0_x/"}) {
    const auto parsed = detail::parse_store_url(file_url(path));
    ASSERT_TRUE(parsed) << path << ": " << parsed.error();
    EXPECT_EQ(std::get<detail::EmbeddedUrl>(*parsed).path, path);
  }
  EXPECT_EQ(file_url("/var/lib/tarry"), "file:/var/lib/tarry");
  const auto with_options = detail::parse_store_url(file_url("/a?b") + "?sync=always");
  ASSERT_TRUE(with_options);
  EXPECT_EQ(std::get<detail::EmbeddedUrl>(*with_options).path, "/a?b");
}

TEST(FileUrl, OpensTheStoreInThatDirectory) {
  const storage::TempDirectory directory;
  const std::string path = directory.path() + "/a%41 ?#\xC3\xA4";
  const auto store = tarry::open(file_url(path));
  ASSERT_TRUE(store) << store.error();
  EXPECT_TRUE(std::filesystem::is_directory(path));
}

}  // namespace
}  // namespace tarry
