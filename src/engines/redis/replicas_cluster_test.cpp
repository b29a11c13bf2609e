// Replicas in a cluster: `wait=N`, and a reshard that goes no further than they do.
#include <chrono>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "net/redis/protocol/redis_slot.h"
#include "support/engine_calls.h"
#include "support/inbox_rig.h"
#include "support/redis_cluster_servers.h"

namespace tarry::redis {
namespace {

using ReplicaRig = tarry::testing::InboxRig;
using tarry::testing::RedisClusterServers;

class ReplicasInClusterTest : public ::testing::Test, protected test::EngineCalls {
 protected:
  static constexpr std::size_t kMasters = 3;

  [[nodiscard]] RedisEngineOptions options() {
    RedisEngineOptions options;
    for (std::size_t i = 0; i < kMasters; ++i) {
      options.cluster.push_back({"127.0.0.1", servers_.server(i).port()});
    }
    return options;
  }
  std::unique_ptr<core::Engine> open(ReplicaWish wish = {}) {
    RedisEngineOptions wished = options();
    wished.wait = wish;
    return ReplicaRig::open(wished);
  }
  // The master that has the only shard of the nth queue; n counts from 1.
  [[nodiscard]] std::size_t master_of(int nth) const {
    return servers_.first_owner(net::redis_slot(ReplicaRig::key(nth, "in")));
  }
  [[nodiscard]] static std::size_t replica_of(std::size_t master) { return kMasters + master; }
  static std::string name_of(int nth) { return "q" + std::to_string(nth); }

  static std::string push(core::Engine& engine, const std::string& queue, int first, int messages) {
    core::PushRequest request;
    request.queue = queue;
    for (int i = first; i < first + messages; ++i) {
      request.items.emplace_back();
      request.items.back().key = core::append(request.bytes, "k" + std::to_string(i));
      request.items.back().due = Due::after(Millis(3'600'000));
    }
    const auto text = [](const Error& error) {
      return std::string(to_string(error.code)) + ": " + error.message;
    };
    const auto reply = ask(engine, std::move(request));
    if (!reply) return text(reply.error());  // the queue's record cannot be read
    for (const core::PushResult& item : std::get<core::PushReply>(*reply).items) {
      if (item.error) return text(*item.error);
    }
    return "";
  }
  static Result<ReshardStep> step(core::Engine& engine, std::uint32_t shards, std::uint64_t turn) {
    auto reply = ask(engine, core::ReshardRequest{name_of(1), shards, turn});
    if (!reply) return std::move(reply).error();
    return std::get<ReshardStep>(*std::move(reply));
  }
  static Result<std::uint64_t> remove(core::Engine& engine) {
    auto reply = ask(engine, core::RemoveRequest{name_of(1), false});
    if (!reply) return std::move(reply).error();
    return std::get<core::CountReply>(*reply).count;
  }
  // Begins a removal, which stops because the replica of `master` does not follow. Then the master
  // fails.
  void fail_over_within_a_removal(core::Engine& engine, std::size_t master) {
    for (std::size_t each = 0; each < kMasters; ++each) wait_until_replicated(each);
    servers_.server(replica_of(master)).pause();
    fail_over(master, remove(engine), ErrorCode::unknown_outcome);
  }
  // Checks that a verb has stopped with this error because the master's replica does not follow.
  // Then the master fails.
  template <typename T>
  void fail_over(std::size_t master, const Result<T>& stopped, ErrorCode code) {
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, code) << stopped.error().message;
    EXPECT_NE(stopped.error().message.find("only 0 of 1 replicas"), std::string::npos)
        << stopped.error().message;
    servers_.server(master).kill9();
    servers_.server(replica_of(master)).cont();
    servers_.until([&] { return servers_.is_master(replica_of(master)); });
  }
  // How many messages have each key; empty if a node cannot be reached.
  static std::map<std::string, int> keys_of(core::Engine& engine, int nth = 1) {
    std::map<std::string, int> keys;
    core::ListRequest request;
    request.queue = name_of(nth);
    request.limit = 10'000;
    const auto reply = ask(engine, std::move(request));
    if (!reply) return keys;
    for (const MessageInfo& info : std::get<core::ListReply>(*reply).messages) ++keys[info.key];
    return keys;
  }
  void wait_until_replicated(std::size_t master) {
    servers_.until([&] {
      const std::string told = servers_.ask(master, {"INFO", "replication"});
      const auto number = [&](const std::string& name) {
        const std::size_t at = told.find(name);
        return at == std::string::npos
                   ? ""
                   : told.substr(at + name.size(),
                                 told.find_first_of(",\r", at + name.size()) - at - name.size());
      };
      return told.find("state=online") != std::string::npos &&
             number(",offset=") == number("master_repl_offset:");
    });
  }

  // `undone` writes data that the master's replica will never get. Then the master fails.
  template <typename Undone>
  void lose(std::size_t master, Undone undone) {
    wait_until_replicated(master);
    servers_.server(replica_of(master)).pause();
    (void)servers_.ask(master, {"CLIENT", "KILL", "TYPE", "replica"});
    undone();
    servers_.server(master).kill9();
    servers_.server(replica_of(master)).cont();
    servers_.until([&] { return servers_.is_master(replica_of(master)); });
  }
  [[nodiscard]] std::size_t master_of_record() const {
    return servers_.first_owner(net::redis_slot("tarry:{0}:store"));
  }
  static std::set<std::string> push_keyless(core::Engine& engine, std::size_t messages) {
    core::PushRequest request = push_of(name_of(1), std::chrono::hours(1));
    request.items.resize(messages, request.items.front());
    const auto reply = ask(engine, std::move(request));
    std::set<std::string> keys;
    if (!reply) return keys;
    const auto& pushed = std::get<core::PushReply>(*reply);
    for (const core::PushResult& item : pushed.items) {
      if (!item.error) keys.emplace(core::view(pushed.bytes, item.key));
    }
    return keys;
  }

  RedisClusterServers servers_{kMasters, 1};
};

TEST_F(ReplicasInClusterTest, EachNodeIsAskedForItsOwn) {
  const auto engine = open({1, 5'000});
  std::map<std::size_t, int> nth_of;  // a queue on each master
  for (int nth = 1; nth <= 16 && nth_of.size() < kMasters; ++nth) {
    ASSERT_EQ(push(*engine, name_of(nth), 0, 10), "");
    nth_of.emplace(master_of(nth % 16), nth);
  }
  ASSERT_EQ(nth_of.size(), kMasters);
  const auto hasty = open({1, 2'000});
  servers_.server(replica_of(0)).pause();
  const std::string doubt = push(*hasty, name_of(nth_of.at(0)), 10, 1);
  EXPECT_EQ(doubt,
            "unknown_outcome: Redis at 127.0.0.1:" + std::to_string(servers_.server(0).port()) +
                " has done it, but only 0 of 1 replicas had it within 2000 ms");
  EXPECT_EQ(push(*engine, name_of(nth_of.at(1)), 10, 1), "");
  EXPECT_EQ(push(*engine, name_of(nth_of.at(2)), 10, 1), "");
  servers_.server(replica_of(0)).cont();
}

// The record is on another node than the shard. If its replicas did not have the record, a failover
// would lose the queue, and pushed messages with it.
TEST_F(ReplicasInClusterTest, NoPushIsConfirmedBeforeTheRecordOfItsQueueIs) {
  const std::size_t master = servers_.first_owner(net::redis_slot("tarry:{0}:store"));
  ASSERT_NE(master, master_of(1));
  const auto engine = open({1, 5'000});
  const auto hasty = open({1, 50});
  wait_until_replicated(master);
  servers_.server(replica_of(master)).pause();
  const std::string refused = push(*hasty, name_of(1), 0, 1);
  EXPECT_EQ(refused, "unavailable: the record of queue q1: Redis at 127.0.0.1:" +
                         std::to_string(servers_.server(master).port()) +
                         " has done it, but only 0 of 1 replicas had it within 50 ms");
  // The record exists by now, but is still on no replica.
  EXPECT_EQ(push(*hasty, name_of(1), 0, 1), refused);
  servers_.server(replica_of(master)).cont();
  EXPECT_EQ(push(*engine, name_of(1), 0, 1), "");
}

// A failover sets the closed shard back to its replica's state. Messages that had left it would
// exist twice.
TEST_F(ReplicasInClusterTest, AFailoverWithinAReshardDoublesNothing) {
  const auto engine = open();
  constexpr int kMessages = 300;
  ASSERT_EQ(push(*engine, name_of(1), 0, kMessages), "");
  const std::size_t master = master_of(1);
  wait_until_replicated(master);
  servers_.server(replica_of(master)).pause();
  fail_over(master, step(*engine, 3, 0), ErrorCode::unavailable);
  ReshardStep last;
  servers_.until([&] {
    const auto made = step(*engine, 3, last.turn);
    last = made ? *made : ReshardStep();
    return last.done;
  });
  const std::map<std::string, int> keys = keys_of(*engine);
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(kMessages));
  for (const auto& [key, times] : keys) EXPECT_EQ(times, 1) << key;
}

// The failover sets the record back to before the removal, or the replica knew of the removal. So
// the queue is unchanged, or gone; there is never a record without its shard.
TEST_F(ReplicasInClusterTest, AFailoverOfTheRecordWithinARemovalUndoesAllOfItOrNothing) {
  const auto engine = open();
  ASSERT_EQ(push(*engine, name_of(1), 0, 300), "");
  const std::size_t master = servers_.first_owner(net::redis_slot("tarry:{0}:store"));
  ASSERT_NE(master, master_of(1));
  fail_over_within_a_removal(*engine, master);
  servers_.until([&] { return push(*engine, name_of(1), 300, 10) == ""; });
  const std::size_t there = keys_of(*engine).size();
  EXPECT_TRUE(there == 310 || there == 10) << there;
  const auto removed = remove(*engine);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(*removed, there);
}

// The failover restores all messages of the shard. So the record must still exist, for the removal
// to be completed.
TEST_F(ReplicasInClusterTest, AFailoverOfTheShardWithinARemovalIsMadeGood) {
  const auto engine = open();
  ASSERT_EQ(push(*engine, name_of(1), 0, 300), "");
  fail_over_within_a_removal(*engine, master_of(1));
  servers_.until([&] {
    const auto removed = remove(*engine);
    EXPECT_TRUE(!removed || *removed == 300) << *removed;
    return removed.has_value();
  });
  EXPECT_EQ(push(*engine, name_of(1), 0, 20), "");
  EXPECT_EQ(keys_of(*engine).size(), 20u);
}

// Messages on other masters have ids that the lost master gave. If an id were given again, a push
// would overwrite such a message.
TEST_F(ReplicasInClusterTest, AFailoverOfTheRecordGivesNoIdTwice) {
  const std::size_t master = master_of_record();
  ASSERT_NE(master, master_of(1));
  const auto before = open();
  ASSERT_EQ(push_keyless(*before, 1).size(), 1u);
  // Now the ids are ahead of the time, as after a busy hour.
  (void)servers_.ask(master, {"HINCRBY", "tarry:{0}:store", "ids", "1000000000"});
  std::set<std::string> keys;
  lose(master, [&] { keys = push_keyless(*open(), 500); });
  ASSERT_EQ(keys.size(), 500u);
  std::unique_ptr<core::Engine> after;
  servers_.until([&] {
    auto opened = open_redis(options());
    if (opened) after = *std::move(opened);
    return opened.has_value();
  });
  std::set<std::string> others;
  servers_.until([&] {
    others = push_keyless(*after, 500);
    return others.size() == 500;
  });
  keys.merge(others);
  EXPECT_EQ(keys.size(), 1'000u);
  EXPECT_EQ(keys_of(*after).size(), 1'001u);
}

// Only the queue's record is lost. Its shard, with the messages, is on another node.
TEST_F(ReplicasInClusterTest, AQueueWhoseRecordIsLostIsFoundAgain) {
  const std::size_t master = master_of_record();
  ASSERT_NE(master, master_of(2));
  const auto engine = open();
  ASSERT_EQ(push(*engine, name_of(1), 0, 1), "");
  lose(master, [&] { ASSERT_EQ(push(*engine, name_of(2), 0, 20), ""); });
  // This queue gets the number that the lost queue had.
  servers_.until([&] { return push(*engine, name_of(3), 0, 1) == ""; });
  ASSERT_EQ(push(*engine, name_of(2), 20, 1), "");
  EXPECT_EQ(keys_of(*engine, 2).size(), 21u);
  EXPECT_EQ(keys_of(*engine, 3).size(), 1u);
}

// How often a master was asked for its replicas.
std::string waits_of(const RedisClusterServers& servers, std::size_t master) {
  const std::string told = servers.ask(master, {"INFO", "commandstats"});
  const std::size_t at = told.find("cmdstat_wait:calls=");
  return at == std::string::npos ? "none" : told.substr(at, told.find(',', at) - at);
}

TEST_F(ReplicasInClusterTest, ANewQueueWaitsForAReplicaThatHasItsRecordOnce) {
  const std::size_t master = master_of_record();
  wait_until_replicated(master);
  const auto engine = open();
  ASSERT_EQ(push(*engine, name_of(1), 0, 1), "");
  EXPECT_EQ(waits_of(servers_, master), "cmdstat_wait:calls=1");
  ASSERT_EQ(push(*engine, name_of(1), 1, 1), "");
  ASSERT_EQ(push(*open(), name_of(1), 2, 1), "");
  EXPECT_EQ(waits_of(servers_, master), "cmdstat_wait:calls=1");
  // If the replica does not answer, the push goes on without it.
  servers_.server(replica_of(master)).pause();
  EXPECT_EQ(push(*engine, name_of(2), 0, 1), "");
  servers_.server(replica_of(master)).cont();
}

// While the replica hangs, each WAIT holds up all requests to its master.
TEST_F(ReplicasInClusterTest, ManyNewQueuesWaitTogetherForAReplicaThatHangs) {
  const std::size_t master = master_of_record();
  wait_until_replicated(master);
  const auto engine = open();
  ASSERT_EQ(push(*engine, name_of(1), 0, 1), "");
  servers_.server(replica_of(master)).pause();
  std::vector<std::future<bool>> pushed;
  for (int nth = 2; nth < 22; ++nth) {
    auto promise = std::make_shared<std::promise<bool>>();
    pushed.push_back(promise->get_future());
    engine->submit(push_of(name_of(nth), std::chrono::hours(1)),
                   [promise](const Result<core::Reply>& reply) {
                     promise->set_value(reply.has_value() &&
                                        !std::get<core::PushReply>(*reply).items.at(0).error);
                   });
  }
  for (auto& each : pushed) EXPECT_TRUE(each.get());
  EXPECT_EQ(push(*engine, name_of(22), 0, 1), "");
  EXPECT_EQ(waits_of(servers_, master), "cmdstat_wait:calls=2");
  servers_.server(replica_of(master)).cont();
}

}  // namespace
}  // namespace tarry::redis
