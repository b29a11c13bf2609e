// Messages move from other programs' keys on a real Redis server into a store of tarry, while those
// programs keep running.
#include <gtest/gtest.h>
#include <tarry/store.h>

#include <chrono>
#include <set>
#include <variant>

#include "app/transfer/migration.h"
#include "support/gate.h"
#include "support/must.h"
#include "support/redis_server.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;
using tarry::testing::Gate;
using tarry::testing::must;
using tarry::testing::RedisServer;

class LayoutMigration : public ::testing::Test {
 protected:
  static constexpr std::int64_t kDue = 1'900'000'000'000;

  LayoutMigration() { (void)server().ask({"FLUSHALL"}); }

  static RedisServer& server() {
    static RedisServer started;
    return started;
  }
  static Store open_layout(const std::string& layout) {
    return must(tarry::open("redis+unix://" + server().socket_path() + "?layout=" + layout));
  }
  static void add(const std::string& zset, std::int64_t score, const std::string& member) {
    ASSERT_EQ(server().ask({"ZADD", zset, std::to_string(score), member}), ":1\r\n");
  }
  MigrationReport run(const Store& from, MigrationOptions options = {}) {
    return migrate({from.engine(), "FROM"}, {to_.engine(), "TO"}, options);
  }

  Store to_ = must(tarry::open("memory:"));
};

TEST_F(LayoutMigration, AZsetMovesWithItsDueTimes) {
  for (int i = 0; i < 25; ++i) add("tasks", kDue + i, "task" + std::to_string(i));
  add("tasks", 1, "overdue");
  const Store from = open_layout("plain&zset=tasks");
  MigrationOptions options;
  options.batch = 4;
  std::uint64_t told = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, 26u);
    told = done;
  };
  const MigrationReport report = run(from, options);
  ASSERT_FALSE(report.error) << report.error->message;
  EXPECT_TRUE(report.is_complete());
  EXPECT_EQ(told, 26u);
  const Queue tasks = to_.queue("tasks");
  for (int i = 0; i < 25; ++i) {
    const MessageInfo info = must(tasks.get("task" + std::to_string(i)));
    EXPECT_EQ(info.due, Time(Millis(kDue + i)));
    EXPECT_EQ(info.payload, "task" + std::to_string(i));
  }
  EXPECT_EQ(must(tasks.claim()).at(0).payload(), "overdue");
  EXPECT_FALSE(must(tasks.stats()).paused);
  EXPECT_EQ(server().ask({"EXISTS", "tasks"}), ":0\r\n");
}

TEST_F(LayoutMigration, ScoresInSecondsAndManySets) {
  add("t0", kDue / 1000, "a");
  add("t2", kDue / 1000 + 5, "b");
  const Store from = open_layout("plain&zset=t{0..2}&queue=t&unit=s");
  ASSERT_TRUE(run(from).is_complete());
  EXPECT_EQ(must(to_.queue("t").get("a")).due, Time(Millis(kDue)));
  EXPECT_EQ(must(to_.queue("t").get("b")).due, Time(Millis(kDue + 5'000)));
}

// A list shows a member that is in two sets twice.
TEST_F(LayoutMigration, AMemberOfTwoSetsMovesOnce) {
  add("t0", kDue, "a");
  add("t1", kDue - 5, "a");
  add("t1", kDue + 1, "b");
  const Store from = open_layout("plain&zset=t{0..1}&queue=t");
  const MigrationReport report = run(from);
  EXPECT_TRUE(report.is_complete()) << (report.error ? report.error->message : "");
  EXPECT_EQ(report.queues.at(0).moved, 2u);
  EXPECT_TRUE(to_.queue("t").get("a"));
  EXPECT_TRUE(to_.queue("t").get("b"));
}

TEST_F(LayoutMigration, AMemberThatIsNoKeyStaysAndStopsNothing) {
  add("tasks", kDue, std::string(600, 'x'));
  add("tasks", kDue + 1, "y");
  const MigrationReport report = run(open_layout("plain&zset=tasks"));
  ASSERT_FALSE(report.error) << report.error->message;
  EXPECT_EQ(report.queues.at(0).moved, 1u);
  EXPECT_EQ(report.queues.at(0).left, 1u);
  EXPECT_FALSE(report.queues.at(0).held);
  EXPECT_NE(report.queues.at(0).problems.at(0).find("sha1:"), std::string::npos);
  EXPECT_FALSE(must(to_.queue("tasks").stats()).paused);
}

TEST_F(LayoutMigration, AHashsBodiesGoAlongAndWhatIsNoMessageStays) {
  add("due", kDue, "order:1");
  (void)server().ask({"HSET", "body", "order:1", "{}", "stray", "nobody's"});
  add("due", kDue, "bodiless");
  const Store from = open_layout("hash&zset=due&hash=body&queue=orders");
  const MigrationReport report = run(from);
  ASSERT_FALSE(report.error) << report.error->message;
  EXPECT_FALSE(report.is_complete());
  const MigratedQueue& queue = report.queues.at(0);
  EXPECT_EQ(queue.moved, 1u);
  EXPECT_EQ(queue.left, 1u);
  EXPECT_FALSE(queue.held);
  ASSERT_FALSE(queue.problems.empty());
  EXPECT_NE(queue.problems[0].find("no body in the HASH"), std::string::npos) << queue.problems[0];
  EXPECT_EQ(must(to_.queue("orders").get("order:1")).payload, "{}");
  EXPECT_FALSE(to_.queue("orders").get("bodiless"));
  EXPECT_EQ(server().ask({"HLEN", "body"}), ":1\r\n");
}

TEST_F(LayoutMigration, RedissonsEntriesMove) {
  const Store from = open_layout("redisson&list=dest&decode=string");
  for (int i = 0; i < 7; ++i) {
    (void)must(from.queue("dest").push({.payload = "v" + std::to_string(i), .due = in(1h)}));
  }
  MigrationOptions options;
  options.batch = 3;
  const MigrationReport report = run(from, options);
  ASSERT_FALSE(report.error) << report.error->message;
  EXPECT_TRUE(report.is_complete());
  std::set<std::string> payloads;
  const Queue dest = to_.queue("dest");
  for (const MessageInfo& info : must(dest.list({})).messages) {
    payloads.insert(must(dest.get(info.key)).payload);
  }
  EXPECT_EQ(payloads.size(), 7u);
  EXPECT_EQ(server().ask({"EXISTS", "redisson_delay_queue_timeout:{dest}"}), ":0\r\n");
  EXPECT_EQ(server().ask({"EXISTS", "redisson_delay_queue:{dest}"}), ":0\r\n");
}

// Other consumers know nothing of tarry. If they take a message between the copy and the removal,
// only they deliver it. If they reschedule it, it moves with the new time.
TEST_F(LayoutMigration, WhatOthersTakeOrChangeMeanwhileIsTheirs) {
  for (int i = 0; i < 5; ++i) add("tasks", kDue + i, "task" + std::to_string(i));
  const Store from = open_layout("plain&zset=tasks");
  bool once = false;
  Gate gate(from.engine(), [&](const core::Request& request) {
    if (std::holds_alternative<core::CancelRequest>(request) && !std::exchange(once, true)) {
      EXPECT_TRUE(must(to_.queue("tasks").stats()).paused);
      EXPECT_EQ(server().ask({"ZREM", "tasks", "task1"}), ":1\r\n");
      EXPECT_EQ(server().ask({"ZADD", "tasks", std::to_string(kDue + 99), "task2"}), ":0\r\n");
    }
    return Gate::Says::pass;
  });
  gate.set_capabilities(from.engine().capabilities());
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  ASSERT_FALSE(report.error) << report.error->message;
  EXPECT_TRUE(report.is_complete());
  const Queue tasks = to_.queue("tasks");
  EXPECT_FALSE(tasks.get("task1"));
  EXPECT_EQ(must(tasks.get("task2")).due, Time(Millis(kDue + 99)));
  EXPECT_EQ(must(tasks.stats()).scheduled, 4u);
}

// A producer has sent HSET, and its ZADD is still on its way.
TEST_F(LayoutMigration, ABodyThatIsWrittenMeanwhileMovesAsItIsThen) {
  add("due", kDue, "order:1");
  (void)server().ask({"HSET", "body", "order:1", "old"});
  const Store from = open_layout("hash&zset=due&hash=body&queue=orders");
  bool once = false;
  Gate gate(from.engine(), [&](const core::Request& request) {
    if (std::holds_alternative<core::CancelRequest>(request) && !std::exchange(once, true)) {
      (void)server().ask({"HSET", "body", "order:1", "new"});
    }
    return Gate::Says::pass;
  });
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  EXPECT_TRUE(report.is_complete()) << (report.error ? report.error->message : "");
  EXPECT_EQ(must(to_.queue("orders").get("order:1")).payload, "new");
  EXPECT_EQ(server().ask({"EXISTS", "body", "due"}), ":0\r\n");
}

// The run ends at each request in turn, before or after the request is carried out.
TEST_F(LayoutMigration, CutShortAnywhereTheNextRunFinishes) {
  for (const Gate::Says how : {Gate::Says::refuse, Gate::Says::lose_the_answer}) {
    bool complete = false;
    for (int last = 0; !complete; ++last) {
      ASSERT_LT(last, 100);
      (void)server().ask({"FLUSHALL"});
      to_ = must(tarry::open("memory:"));
      for (int i = 0; i < 5; ++i) add("tasks", kDue + i, "task" + std::to_string(i));
      const Store from = open_layout("plain&zset=tasks");
      int asked = 0;
      const auto says = [&](const core::Request&) {
        return asked++ < last ? Gate::Says::pass : how;
      };
      Gate from_gate(from.engine(), says);
      Gate to_gate(to_.engine(), says);
      MigrationOptions options;
      options.batch = 2;
      complete = migrate({from_gate, "FROM"}, {to_gate, "TO"}, options).is_complete();
      const MigrationReport again = run(from);
      EXPECT_TRUE(again.is_complete()) << last << (again.error ? again.error->message : "");
      EXPECT_EQ(must(to_.queue("tasks").stats()).scheduled, 5u) << last;
      EXPECT_FALSE(must(to_.queue("tasks").stats()).paused) << last;
      EXPECT_EQ(server().ask({"EXISTS", "tasks"}), ":0\r\n") << last;
    }
  }
}

TEST_F(LayoutMigration, AnotherRunIsNoticedAndItsCopiesStay) {
  for (int i = 0; i < 5; ++i) add("tasks", kDue + i, "task" + std::to_string(i));
  const Store from = open_layout("plain&zset=tasks");
  bool other_ran = false;
  Gate gate(from.engine(), [&](const core::Request& request) {
    if (std::holds_alternative<core::CancelRequest>(request) && !std::exchange(other_ran, true)) {
      EXPECT_FALSE(run(from).error);
    }
    return Gate::Says::pass;
  });
  const MigrationReport report = migrate({gate, "FROM"}, {to_.engine(), "TO"}, {});
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::conflict) << report.error->message;
  EXPECT_EQ(must(to_.queue("tasks").stats()).scheduled, 5u);
}

TEST_F(LayoutMigration, QueuesThatItsKeysDoNotTellAreToBeNamed) {
  add("delay:a", kDue, "x");
  const Store from = open_layout("plain&zset=delay:{queue}");
  const MigrationReport unnamed = run(from);
  ASSERT_TRUE(unnamed.error);
  EXPECT_NE(unnamed.error->message.find("--queue"), std::string::npos) << unnamed.error->message;
  MigrationOptions options;
  options.queues = {"a"};
  EXPECT_TRUE(run(from, options).is_complete());
  EXPECT_EQ(must(to_.queue("a").get("x")).due, Time(Millis(kDue)));
}

TEST_F(LayoutMigration, NothingIsMovedIntoALayout) {
  (void)must(to_.queue("tasks").push({.key = "k"}));
  const Store layout = open_layout("plain&zset=tasks");
  const MigrationReport report = migrate({to_.engine(), "FROM"}, {layout.engine(), "TO"}, {});
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->code, ErrorCode::unsupported);
  EXPECT_FALSE(must(to_.queue("tasks").stats()).paused);
}

}  // namespace
}  // namespace tarry::app
