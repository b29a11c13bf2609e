#include "open/store_tools.h"

#include <gtest/gtest.h>

namespace tarry::tools {
namespace {

QueueStats balanced_queue() {
  QueueStats queue;
  queue.queue = "q";
  queue.scheduled = 1;
  queue.ready = 2;
  queue.leased = 3;
  queue.dead = 4;
  queue.remembered = 50;  // not in the sum: it was counted as acked or cancelled
  queue.counters = {.accepted = 10 + 5 + 6 + 7 + 8 + 9 + 10,
                    .acked = 5,
                    .cancelled = 6,
                    .replaced = 7,
                    .expired = 8,
                    .purged = 9,
                    .moved_away = 10,
                    .claims = 99};
  return queue;
}

TEST(StoreAudit, FindsThatAllIsThere) {
  EXPECT_TRUE(audit({}).balanced());
  StoreStats stats;
  stats.queues = {balanced_queue()};
  const StoreAudit result = audit(stats);
  ASSERT_EQ(result.queues.size(), 1u);
  EXPECT_EQ(result.queues[0].queue, "q");
  EXPECT_EQ(result.queues[0].accepted, 55u);
  EXPECT_EQ(result.queues[0].present, 10u);
  EXPECT_EQ(result.queues[0].ended, 45u);
  EXPECT_EQ(result.queues[0].difference(), 0);
  EXPECT_TRUE(result.balanced());
}

TEST(StoreAudit, CountsWhatIsMissingAndWhatIsTooMuch) {
  // Changes each term of the sum, one at a time.
  using Change = void (*)(QueueStats&);
  for (const Change less :
       {Change([](QueueStats& q) { --q.scheduled; }), Change([](QueueStats& q) { --q.ready; }),
        Change([](QueueStats& q) { --q.leased; }), Change([](QueueStats& q) { --q.dead; }),
        Change([](QueueStats& q) { --q.counters.acked; }),
        Change([](QueueStats& q) { --q.counters.cancelled; }),
        Change([](QueueStats& q) { --q.counters.replaced; }),
        Change([](QueueStats& q) { --q.counters.expired; }),
        Change([](QueueStats& q) { --q.counters.purged; }),
        Change([](QueueStats& q) { --q.counters.moved_away; })}) {
    StoreStats stats;
    stats.queues = {balanced_queue(), balanced_queue()};
    less(stats.queues[1]);
    const StoreAudit result = audit(stats);
    EXPECT_EQ(result.queues[0].difference(), 0);
    EXPECT_EQ(result.queues[1].difference(), 1);
    EXPECT_FALSE(result.balanced());
  }
  StoreStats stats;
  stats.queues = {balanced_queue()};
  stats.queues[0].ready += 2;
  EXPECT_EQ(audit(stats).queues[0].difference(), -2);
}

TEST(PathOfStore, IsThatOfAFileUrl) {
  EXPECT_EQ(*path_of_store("file:/srv/a%20b?shards=4"), "/srv/a b");
  EXPECT_EQ(path_of_store("memory:").error().code, ErrorCode::unsupported);
  EXPECT_EQ(path_of_store("http://h").error().code, ErrorCode::unsupported);
  EXPECT_EQ(path_of_store("file:").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace tarry::tools
