// Removing queues from a real server: the remover is stopped after each of its calls, with engines
// that have not heard of it, and late processes.
#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "engines/redis/node/scripts.h"
#include "support/redis_engines.h"

namespace tarry::redis {
namespace {

class RemovalTest : public ::testing::Test, protected test::EngineCalls {
 protected:
  static testing::RedisServer& server() { return testing::server_of<RemovalTest>(); }
  RemovalTest() { (void)server().ask({"FLUSHALL"}); }
  ~RemovalTest() override { (void)server().ask({"CONFIG", "SET", "maxmemory", "0"}); }

  // All shards of a queue are in one partition, so a queue that is made again has the same keys.
  static std::unique_ptr<core::Engine> open(std::uint32_t shards = 1, std::int64_t calls = -1) {
    auto options = testing::options_for(server());
    options.partitions = 1;
    options.shards = shards;
    options.reshard_calls = calls;
    return testing::must_open(std::move(options));
  }

  // For an empty key the store generates one. Returns how many messages were accepted: a push that
  // finds the queue removed again and again is refused.
  static std::uint64_t push(core::Engine& engine, const std::vector<std::string>& keys) {
    core::PushRequest request;
    request.queue = "q";
    for (const std::string& key : keys) {
      core::PushItem item;
      item.key = core::append(request.bytes, key);
      item.payload = core::append(request.bytes, "payload");
      item.due = Due::at(Time(Millis(1)));
      request.items.push_back(item);
    }
    const auto reply = take<core::PushReply>(engine, std::move(request));
    std::uint64_t accepted = 0;
    for (const auto& item : reply.items) {
      EXPECT_EQ(item.error ? item.error->message : "the queue has moved", "the queue has moved");
      if (!item.error && item.outcome == Outcome::pushed) ++accepted;
    }
    return accepted;
  }
  static std::vector<std::string> claim(core::Engine& engine, std::uint32_t max = 1000) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.max = max;
    const auto reply = take<core::ClaimReply>(engine, std::move(request));
    std::vector<std::string> receipts;
    for (const auto& item : reply.items) {
      receipts.emplace_back(core::view(reply.bytes, item.receipt));
    }
    return receipts;
  }
  static Outcome ack(core::Engine& engine, const std::string& receipt) {
    core::SettleRequest request;
    core::SettleItem item;
    item.receipt = core::append(request.bytes, receipt);
    request.items.push_back(item);
    return take<core::ItemsReply>(engine, std::move(request)).items.at(0).outcome;
  }
  static Result<std::uint64_t> remove(core::Engine& engine, bool force = false) {
    auto reply = ask(engine, core::RemoveRequest{"q", force});
    if (!reply) return std::move(reply).error();
    return std::get<core::CountReply>(*reply).count;
  }
  static void reshard(core::Engine& engine, std::uint32_t shards) {
    std::uint64_t turn = 0;
    for (;;) {
      const auto step = take<ReshardStep>(engine, core::ReshardRequest{"q", shards, turn});
      if (step.done || step.turn == 0) return;
      turn = step.turn;
    }
  }
  static void pause(core::Engine& engine, std::optional<Time> until) {
    (void)take<core::CountReply>(engine, core::PauseRequest{"q", until});
  }
  static Result<QueueStats> stats(core::Engine& engine) {
    auto reply = ask(engine, core::StatsRequest{"q"});
    if (!reply) return std::move(reply).error();
    return std::get<StoreStats>(std::move(*reply)).queues.at(0);
  }
  // The error's code; `misuse` if there is no error.
  template <typename T>
  static ErrorCode code(const Result<T>& told) {
    return told ? ErrorCode::misuse : told.error().code;
  }
  // The keys that the queue has in Redis.
  static std::vector<std::string> keys() {
    const std::string told = server().ask({"KEYS", "tarry:{0}:q/*"});
    std::vector<std::string> found;
    for (std::size_t at = told.find("tarry:"); at != std::string::npos;
         at = told.find("tarry:", at + 1)) {
      found.push_back(told.substr(at, told.find("\r\n", at) - at));
    }
    return found;
  }
};

// Nobody depends on the remover: any process that uses the queue completes the removal. So does a
// second remover, which gets the number of all removed messages.
TEST_F(RemovalTest, StoppedBehindEachCallOthersEndIt) {
  for (const bool by_remover : {true, false}) {
    for (std::int64_t calls = 0; calls <= 5; ++calls) {
      (void)server().ask({"FLUSHALL"});
      const auto engine = open(3);
      push(*engine, {"a", "b", "c", "d", "e", "f", "", "", ""});
      const auto stopped = open(3, calls);
      const auto told = remove(*stopped);
      EXPECT_EQ(code(told), calls < 5 ? ErrorCode::unknown_outcome : ErrorCode::misuse);
      if (calls == 5) {
        EXPECT_EQ(told.value(), 9u);
      } else if (by_remover) {
        const auto again = remove(*engine);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(*again, 9u) << calls;
      }
      EXPECT_EQ(code(stats(*stopped)), ErrorCode::not_found) << calls;
      EXPECT_EQ(code(remove(*engine)), ErrorCode::not_found) << calls;
      EXPECT_EQ(keys().size(), 3u) << "what is left says that it is gone";
      EXPECT_EQ(push(*stopped, {"a", "anew"}), 2u) << calls;
      EXPECT_EQ(claim(*engine).size(), 2u) << calls;
    }
  }
}

TEST_F(RemovalTest, APushEndsWhatWasBegunAndMakesItAnew) {
  push(*open(2), {"a", "b", ""});
  const auto told = remove(*open(2, 2));
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(
      told.error().message,
      "the removal of queue q has begun, and is ended by whoever uses it next: it was stopped");
  const auto engine = open(2);
  EXPECT_EQ(push(*engine, {"a", "new"}), 2u);
  EXPECT_EQ(claim(*engine).size(), 2u);
  EXPECT_EQ(stats(*engine)->counters.accepted, 2u);
}

// An engine still knows the old shards. Each of its verbs, and each way to push, works all the
// same.
TEST_F(RemovalTest, WhoHasNotHeardOfItLearnsItThere) {
  const auto engine = open();
  const auto late = open();
  for (const bool anew : {false, true}) {
    push(*late, {"k", "leased", ""});
    const auto receipts = claim(*late);
    push(*late, {"k2"});
    ASSERT_EQ(remove(*engine, true).value(), 4u);
    if (anew) push(*engine, {"other"});
    for (const std::string& receipt : receipts) EXPECT_EQ(ack(*late, receipt), Outcome::stale);
    core::CancelRequest cancel;
    cancel.queue = "q";
    cancel.keys.push_back(core::append(cancel.bytes, "k2"));
    EXPECT_EQ(take<core::ItemsReply>(*late, std::move(cancel)).items.at(0).outcome,
              Outcome::unknown);
    EXPECT_EQ(claim(*late).size(), anew ? 1u : 0u);
    EXPECT_EQ(push(*late, std::vector<std::string>(8)), 8u);  // this push goes by plain commands
    EXPECT_EQ(push(*late, {"k"}), 1u);
    EXPECT_EQ(claim(*engine).size(), 9u);
    EXPECT_EQ(stats(*late)->counters.accepted, anew ? 10u : 9u);
    EXPECT_EQ(remove(*late, true).value(), anew ? 10u : 9u);
  }
}

TEST_F(RemovalTest, AfterReshardsItIsMadeAnewUnderTheSameKeys) {
  const auto engine = open();
  const auto late = open();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(push(*late, {"a", "b", "c", ""}), 4u);
    reshard(*engine, 3);
    reshard(*engine, 1);
    reshard(*engine, 2);
    EXPECT_EQ(remove(*engine).value(), 4u);
    EXPECT_EQ(push(*late, {"a"}), 1u);
    EXPECT_EQ(stats(*engine)->shards, 1u);
    EXPECT_EQ(claim(*engine).size(), 1u);
    EXPECT_EQ(remove(*late, true).value(), 1u);
  }
}

TEST_F(RemovalTest, WhatIsOnItsWayToOtherShardsIsNotRemoved) {
  const auto engine = open();
  push(*engine, {"a"});
  EXPECT_FALSE(ask(*open(1, 8), core::ReshardRequest{"q", 3, 0}));
  const auto told = remove(*engine);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::conflict);
  EXPECT_EQ(told.error().message,
            "queue q is being resharded to 3 shards; complete that first (tarry queue reshard)");
  reshard(*engine, 3);
  EXPECT_EQ(remove(*engine).value(), 1u);
}

// A reshard that meets a removal completes the removal.
TEST_F(RemovalTest, WhatIsBeingRemovedGetsNoOtherShards) {
  const auto engine = open();
  push(*engine, {"a"});
  EXPECT_FALSE(remove(*open(1, 1)));
  const auto told = ask(*engine, core::ReshardRequest{"q", 3, 0});
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, ErrorCode::not_found);
  EXPECT_EQ(server().ask({"HEXISTS", "tarry:{0}:queues", "q"}), ":0\r\n");
  EXPECT_EQ(keys().size(), 1u);
}

// By the clock of the server that has the record, the shards' hold has ended. Workers may have
// claimed messages since.
TEST_F(RemovalTest, ItDoesNotBeginOnceItIsNotHeldAnyMore) {
  const auto engine = open();
  push(*engine, {"a"});
  const std::string told = server().ask({"HGET", "tarry:{0}:queues", "q"});
  const std::size_t begin = told.find("\r\n") + 2;
  const std::string record = told.substr(begin, told.rfind("\r\n") - begin);
  const auto begun = [&](const char* until) {
    return server().ask({"EVAL", text_of(Script::remove_begin, net::RedisChannels::plain), "2",
                         "tarry:{0}:store", "tarry:{0}:queues", "q", record, record + " 0 removing",
                         "5000", until, "tarry:{0}:wake"});
  };
  EXPECT_TRUE(begun("4999").starts_with("-STALE"));
  EXPECT_EQ(server().ask({"HGET", "tarry:{0}:queues", "q"}), told);
  EXPECT_TRUE(begun("5000").starts_with('$'));
  EXPECT_EQ(code(stats(*open())), ErrorCode::not_found);
}

// Everything was deleted during a removal, the store was made again, and then the removal's last
// call arrived.
TEST_F(RemovalTest, WhatAnotherStoreLeftIsInNobodysWay) {
  ASSERT_EQ(server().ask({"HSET", "tarry:{0}:q/0:meta", "generation", "gone 7 123"}), ":1\r\n");
  const auto engine = open();
  EXPECT_EQ(push(*engine, {"a", ""}), 2u);
  EXPECT_EQ(claim(*engine).size(), 2u);
}

// META's statement that a shard is gone expires after a week, but never once the shard exists
// again.
TEST_F(RemovalTest, WhatIsLeftHasAnEnd) {
  const auto engine = open();
  push(*engine, {"a"});
  ASSERT_EQ(remove(*engine).value(), 1u);
  const auto left = keys();
  ASSERT_EQ(left.size(), 1u);
  const std::string lasts = server().ask({"TTL", left[0]});
  EXPECT_GT(std::stoi(lasts.substr(1)), 6 * 24 * 3600);
  EXPECT_LE(std::stoi(lasts.substr(1)), 7 * 24 * 3600);
  push(*engine, {"a"});
  EXPECT_EQ(server().ask({"TTL", left[0]}), ":-1\r\n");
  ASSERT_EQ(remove(*engine).value(), 1u);
  ASSERT_EQ(server().ask({"DEL", left[0]}), ":1\r\n");  // as if it had expired
  EXPECT_EQ(push(*engine, {"a"}), 1u);
  EXPECT_EQ(claim(*engine).size(), 1u);
}

// A process read the record before the removal, and makes the shard after it.
TEST_F(RemovalTest, WhoComesLateDoesNotMakeItAnew) {
  const auto engine = open();
  push(*engine, {"a"});
  const auto meta = [](const char* field) {
    return server().ask({"HGET", "tarry:{0}:q/0:meta", field});
  };
  const std::string told = meta("generation");
  const std::string generation =
      told.substr(told.find("\r\n") + 2, told.rfind("\r\n") - 2 - told.find("\r\n"));
  ASSERT_EQ(remove(*engine).value(), 1u);
  std::vector<std::string> create = {"EVAL", text_of(Script::create, net::RedisChannels::plain),
                                     "13"};
  for (const char* part :
       {"q/0:meta", "q/0:msgs", "q/0:due", "q/0:odd", "q/0:ready", "q/0:leased", "q/0:claims",
        "q/0:leases", "q/0:past", "q/0:dead", "q/0:done", "heads", "agenda"}) {
    create.push_back(std::string("tarry:{0}:") + part);
  }
  for (const std::string& argument :
       {generation, std::string("1 2 3 4 5 6 r"), std::string("-"), std::string("0")}) {
    create.push_back(argument);
  }
  EXPECT_EQ(server().ask(create), ":0\r\n");
  EXPECT_EQ(keys().size(), 1u);
  EXPECT_NE(meta("generation").find("gone 0 " + generation), std::string::npos);
}

// A removal begins only if no message is leased. If it is refused, shards that it had closed to
// claims are open again.
TEST_F(RemovalTest, ARefusalLeavesAllAsItWas) {
  const auto engine = open(4);
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) many.push_back("k" + std::to_string(i));
  push(*engine, many);
  const auto one = claim(*engine, 1);
  ASSERT_EQ(one.size(), 1u);
  const auto told = remove(*engine);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().message,
            "queue q has 1 message leased; wait until they are settled, or force it");
  EXPECT_FALSE(stats(*engine)->paused);
  const auto rest = claim(*engine);
  EXPECT_EQ(rest.size(), 39u);
  const Time far = Time(Millis(4'000'000'000'000));
  pause(*engine, far);
  EXPECT_FALSE(remove(*engine));
  EXPECT_EQ(stats(*engine)->paused_until, far);
  for (const std::string& receipt : rest) EXPECT_EQ(ack(*engine, receipt), Outcome::done);
  EXPECT_EQ(ack(*engine, one[0]), Outcome::done);
  EXPECT_EQ(remove(*engine).value(), 0u);
}

TEST_F(RemovalTest, AlsoWhileRedisIsFull) {
  const auto engine = open(2);
  push(*engine, {"a", "b", "c"});
  ASSERT_EQ(claim(*engine, 1).size(), 1u);
  ASSERT_EQ(server().ask({"CONFIG", "SET", "maxmemory", "1"}), "+OK\r\n");
  EXPECT_EQ(code(remove(*engine)), ErrorCode::conflict);
  EXPECT_EQ(remove(*engine, true).value(), 3u);
  EXPECT_EQ(code(stats(*engine)), ErrorCode::not_found);
}

TEST_F(RemovalTest, WhatIsNotOursUnderItsNamesGoesToo) {
  const auto engine = open();
  push(*engine, {"a", "b"});
  ASSERT_EQ(server().ask({"DEL", "tarry:{0}:q/0:dead"}), ":1\r\n");
  ASSERT_EQ(server().ask({"SET", "tarry:{0}:q/0:dead", "mine"}), "+OK\r\n");
  EXPECT_EQ(remove(*engine, true).value(), 2u);
  EXPECT_EQ(keys().size(), 1u);
  EXPECT_EQ(push(*engine, {"a", "b"}), 2u);
}

// Two engines push, with keys and without, while a third one removes. Each accepted message was
// either removed or still exists.
TEST_F(RemovalTest, UnderLoadEachMessageIsRemovedOnceOrThere) {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<bool> stop{false};
  std::vector<std::jthread> pushers;
  for (int i = 0; i < 2; ++i) {
    pushers.emplace_back([&, i] {
      const auto engine = open(3);
      for (int n = 0; !stop; ++n) {
        const std::string key = std::to_string(i) + "-" + std::to_string(n);
        accepted += push(*engine, {key, key + "b", "fixed"});
        accepted += push(*engine, {"", "", ""});
      }
    });
  }
  const auto engine = open(3);
  std::uint64_t removed = 0;
  int rounds = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (rounds < 100) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    const auto told = remove(*engine, rounds % 2 == 0);
    if (!told) {
      const ErrorCode why = told.error().code;
      ASSERT_TRUE(why == ErrorCode::not_found || why == ErrorCode::conflict)
          << told.error().message;
      continue;
    }
    removed += *told;
    ++rounds;
  }
  stop = true;
  pushers.clear();
  EXPECT_EQ(push(*engine, {"at", "the", "end"}), 3u);
  const auto left = stats(*engine);
  EXPECT_EQ(accepted + 3, removed + (left ? left->ready : 0));
  EXPECT_GT(removed, 0u);
}

}  // namespace
}  // namespace tarry::redis
