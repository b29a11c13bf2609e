// Producers and consumers that know nothing of tarry, on the same keys at the same time: plain
// commands and Redisson's scripts beside tarry's claims, cancels and reschedules.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "support/layout_rig.h"

namespace tarry::redis {
namespace {

// Counts how often each message was handed to a consumer.
class Books {
 public:
  void got(const std::string& what) {
    const std::lock_guard lock(mutex_);
    ++count_[what];
  }
  [[nodiscard]] std::size_t different() const {
    const std::lock_guard lock(mutex_);
    return count_.size();
  }
  [[nodiscard]] std::map<std::string, int> all() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> count_;
};

class ForeignLayout : public LayoutTest {
 protected:
  static constexpr int kTasks = 400;

  static std::string task(int i) { return "task" + std::to_string(i); }
};

// The consumer of design S1 reads a due task, and owns it if its ZREM answers 1. If tarry claims
// the task in between, both have it, and the ack is stale.
TEST_F(ForeignLayout, AScanWithZremSharesTheQueueAndNothingIsLost) {
  LayoutStore store(options_of({}));
  Books books;
  std::atomic<int> stale = 0;
  std::thread producer([] {
    for (int i = 0; i < kTasks; ++i) {
      (void)redis({"ZADD", "tasks", std::to_string(now_ms() + i % 40), task(i)});
    }
  });
  std::thread consumer([&] {
    while (books.different() < kTasks) {
      const std::string due = redis(
          {"EVAL",
           "return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1)[1] or ''",
           "1", "tasks", std::to_string(now_ms())});
      if (!due.empty() && redis({"ZREM", "tasks", due}) == "1") books.got(due);
    }
  });
  while (books.different() < kTasks) {
    for (const Taken& taken : store.claim(LayoutStore::claim_of("tasks", 20, 30'000, 5))) {
      EXPECT_GE(taken.claimed_ms, taken.due_ms);
      books.got(taken.payload);
      if (store.settle(taken.receipt).outcome == Outcome::stale) ++stale;
    }
  }
  producer.join();
  consumer.join();
  int twice = 0;
  for (const auto& [what, times] : books.all()) {
    EXPECT_LE(times, 2) << what;
    if (times == 2) ++twice;
  }
  EXPECT_EQ(twice, stale);  // each duplicate was reported as a stale ack
  EXPECT_EQ(redis({"EXISTS", "tasks"}), "0");
}

// The consumers of designs S6 and S10 read and remove in one script. So no message is given to both
// them and tarry.
TEST_F(ForeignLayout, AScriptedConsumerAndClaimsShareAQueueWithoutDuplicates) {
  LayoutSpec spec;
  spec.layout = Layout::hash;
  spec.zset = "z";
  spec.hash = "h";
  LayoutStore store(options_of(spec));
  Books books;
  std::thread producer([] {
    for (int i = 0; i < kTasks; ++i) {
      (void)redis({"ZADD", "z", std::to_string(now_ms() + i % 40), task(i)});
      (void)redis({"HSET", "h", task(i), "body of " + task(i)});
    }
  });
  std::thread consumer([&] {
    while (books.different() < kTasks) {
      const std::string body = redis(
          {"EVAL",
           "local k = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], '-inf', 'LIMIT', 0, 1)[1];"
           "if not k then return '' end;"
           "local b = redis.call('HGET', KEYS[2], k); if not b then return '' end;"
           "redis.call('ZREM', KEYS[1], k); redis.call('HDEL', KEYS[2], k); return b",
           "2", "z", "h", std::to_string(now_ms())});
      if (!body.empty()) books.got(body);
    }
  });
  while (books.different() < kTasks) {
    for (const Taken& taken : store.claim(LayoutStore::claim_of("z", 20, 30'000, 5))) {
      EXPECT_EQ(taken.payload, "body of " + taken.key);
      books.got(taken.payload);
      EXPECT_EQ(store.settle(taken.receipt).outcome, Outcome::done);
    }
    // A member that a claim found between its ZADD and its HSET is put off for ten seconds. This
    // test does not wait that long.
    for (const MessageInfo& info : store.list("z", 1'000, State::scheduled)) {
      if (info.due.time_since_epoch().count() > now_ms() + 1'000) {
        (void)store.reschedule("z", info.key, Due());
      }
    }
  }
  producer.join();
  consumer.join();
  for (const auto& [what, times] : books.all()) EXPECT_EQ(times, 1) << what;
  EXPECT_EQ(redis({"EXISTS", "z", "h"}), "0");
}

TEST_F(ForeignLayout, RedissonsTransfersAndPopsBesideClaims) {
  LayoutSpec spec;
  spec.layout = Layout::redisson;
  spec.list = "dest";
  LayoutStore store(options_of(spec));
  const std::vector<std::string> keys = {"4", "dest", "redisson_delay_queue_timeout:{dest}",
                                         "redisson_delay_queue:{dest}",
                                         "redisson_delay_queue_channel:{dest}"};
  const auto run = [&](std::string script, std::vector<std::string> arguments) {
    std::vector<std::string> words = {"EVAL", std::move(script)};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return redis(words);
  };
  Books books;
  std::thread producer([&] {
    for (int i = 0; i < kTasks; ++i) {
      (void)run(
          "local value = struct.pack('Bc0Lc0', string.len(ARGV[2]), ARGV[2], string.len(ARGV[3]), "
          "ARGV[3]); redis.call('zadd', KEYS[2], ARGV[1], value);"
          "redis.call('rpush', KEYS[3], value); local v = redis.call('zrange', KEYS[2], 0, 0);"
          "if v[1] == value then redis.call('publish', KEYS[4], ARGV[1]); end;",
          {std::to_string(now_ms() + i % 40), std::to_string(10'000'000 + i), task(i)});
    }
  });
  std::thread timer_and_consumer([&] {
    while (books.different() < kTasks) {
      (void)run(
          "local expired = redis.call('zrangebyscore', KEYS[2], 0, ARGV[1], 'limit', 0, ARGV[2]);"
          "for i, v in ipairs(expired) do local id, value = struct.unpack('Bc0Lc0', v);"
          "redis.call('rpush', KEYS[1], value); redis.call('lrem', KEYS[3], 1, v); end;"
          "if #expired > 0 then redis.call('zrem', KEYS[2], unpack(expired)); end; return nil;",
          {std::to_string(now_ms()), "3"});
      const std::string popped = redis({"LPOP", "dest"});
      if (!popped.empty()) books.got(popped);
    }
  });
  while (books.different() < kTasks) {
    for (const Taken& taken : store.claim(LayoutStore::claim_of("dest", 20, 30'000, 2))) {
      books.got(taken.payload);
      EXPECT_EQ(store.settle(taken.receipt).outcome, Outcome::done);
    }
  }
  producer.join();
  timer_and_consumer.join();
  for (const auto& [what, times] : books.all()) EXPECT_EQ(times, 1) << what;
  EXPECT_EQ(redis({"DEL", "tarry:lease:dest:seen"}), "1");
  EXPECT_EQ(redis({"DBSIZE"}), "0");
}

// No delivery begins after a confirmed cancel, even if claims run at the same time.
TEST_F(ForeignLayout, CancelsAndReschedulesRaceWithClaims) {
  LayoutStore store(options_of({}));
  LayoutStore other(options_of({}));
  for (int i = 0; i < kTasks; ++i) ASSERT_EQ(redis({"ZADD", "tasks", "1", task(i)}), "1");
  Books books;
  std::atomic<bool> done = false;
  std::thread consumer([&] {
    while (true) {
      const bool last = done;
      const auto taken = other.claim(LayoutStore::claim_of("tasks", 0, 30'000, 3));
      for (const Taken& each : taken) {
        books.got(each.key);
        EXPECT_EQ(other.settle(each.receipt).outcome, Outcome::done);
      }
      if (last && taken.empty()) return;
    }
  });
  std::set<std::string> never;
  int moved = 0;
  for (int i = kTasks - 1; i >= 0; --i) {
    if (i % 2 == 0) {
      const Outcome outcome = store.cancel("tasks", task(i)).outcome;
      if (outcome == Outcome::cancelled) never.insert(task(i));
    } else {
      const auto result = store.reschedule("tasks", task(i), Due::after(Millis(3'600'000)));
      if (result.outcome == Outcome::rescheduled) {
        never.insert(task(i));
        ++moved;
      }
    }
  }
  done = true;
  consumer.join();
  const auto got = books.all();
  for (const auto& [what, times] : got) {
    EXPECT_EQ(times, 1) << what;
    EXPECT_FALSE(never.contains(what)) << what;
  }
  EXPECT_EQ(got.size() + never.size(), static_cast<std::size_t>(kTasks));
  EXPECT_EQ(redis({"ZCARD", "tasks"}), std::to_string(moved));
}

// Rights that a layout's scripts need are checked before the first script runs. Rights that only
// other stores need are not checked.
TEST_F(ForeignLayout, AMissingRightIsNamedBeforeAnythingIsDone) {
  const auto open_with = [](Layout layout, const std::string& rule) {
    EXPECT_EQ(redis({"ACL", "SETUSER", "shop", "reset", "on", ">pw", "~*", "&*", "+@all", rule}),
              "OK");
    LayoutSpec spec;
    spec.layout = layout;
    if (layout == Layout::redisson) {
      spec.list = "tasks";
    } else {
      spec.zset = "tasks";
    }
    if (layout == Layout::hash) spec.hash = "bodies";
    LayoutEngineOptions options = options_of(std::move(spec));
    options.server.user = "shop";
    options.server.password = "pw";
    const auto engine = open_layout(std::move(options));
    return engine ? std::string("open") : engine.error().message;
  };
  for (const char* command : {"zadd", "zrem", "set", "get", "del", "time"}) {
    for (const Layout layout : {Layout::plain, Layout::hash, Layout::redisson}) {
      const std::string said = open_with(layout, "-" + std::string(command));
      EXPECT_NE(said.find("lacks +" + std::string(command) + " ("), std::string::npos) << said;
    }
  }
  EXPECT_NE(open_with(Layout::hash, "-hset").find("lacks +hset ("), std::string::npos);
  EXPECT_NE(open_with(Layout::redisson, "-rpush").find("lacks +rpush ("), std::string::npos);
  EXPECT_EQ(open_with(Layout::plain, "-@hash"), "open");
  EXPECT_EQ(open_with(Layout::hash, "-@list"), "open");
  EXPECT_EQ(open_with(Layout::redisson, "-@hash"), "open");
  EXPECT_EQ(server().ask({"DBSIZE"}), ":0\r\n");
}

}  // namespace
}  // namespace tarry::redis
