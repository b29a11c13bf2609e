// tarry::open of stores in Redis, on the tests' own servers: the options in the URL take effect.
#include <gtest/gtest.h>
#include <tarry/store.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/certificates.h"
#include "support/payload_limit.h"
#include "support/redis_server.h"

namespace tarry {
namespace {

using testing::Certificates;
using testing::RedisServer;

// Has another name than `opened` in open_test.cpp, because unity builds join the files.
Store store_at(const std::string& url) {
  Result<Store> store = tarry::open(url);
  if (!store) throw std::runtime_error(url + ": " + store.error().message);
  return *std::move(store);
}

std::string socket_url(const RedisServer& server, const std::string& options = {}) {
  return "redis+unix://" + server.socket_path() + options;
}

// Claims and acks the due messages, and returns their keys.
std::vector<std::string> keys_due(const Store& store) {
  const Queue q = store.queue("q");
  std::vector<std::string> keys;
  const auto claimed = q.claim({.max = 100});
  EXPECT_TRUE(claimed) << (claimed ? "" : claimed.error().message);
  if (!claimed) return keys;
  for (const Delivery& delivery : *claimed) {
    keys.emplace_back(delivery.key());
    EXPECT_EQ(*q.ack(delivery.receipt()), Outcome::done);
  }
  return keys;
}

void push_key(const Store& store, std::string_view key) {
  const auto pushed = store.queue("q").push({.key = key});
  ASSERT_TRUE(pushed) << pushed.error().message;
}

using Keys = std::vector<std::string>;

Error refusal_of(const std::string& url) {
  const auto store = tarry::open(url);
  EXPECT_FALSE(store) << url;
  return store ? Error{} : store.error();
}

TEST(OpenRedis, OverTlsWithTheFilesAndTheNameOfTheUrl) {
  const Certificates files;
  const std::string port = std::to_string(RedisServer::free_port());
  const RedisServer server({"--tls-port", port, "--tls-cert-file", files.certificate("server"),
                            "--tls-key-file", files.key("server"), "--tls-ca-cert-file",
                            files.certificate("ca"), "--tls-auth-clients", "yes"});
  const std::string url = "rediss://127.0.0.1:" + port + "?name=";
  const std::string ca = "&ca=" + files.certificate("ca");
  const std::string client = "&cert=" + files.certificate("client") + "&key=" + files.key("client");
  const Store store = store_at(url + "redis.example" + ca + client);
  push_key(store, "k");
  EXPECT_EQ(keys_due(store), Keys{"k"});

  const Error name = refusal_of(url + "wrong.example" + ca + client);
  EXPECT_NE(name.message.find("not for \"wrong.example\""), std::string::npos) << name.message;
  const Error trust = refusal_of(url + "redis.example" + client);
  EXPECT_NE(trust.message.find("its certificate is not trusted"), std::string::npos)
      << trust.message;
  (void)refusal_of(url + "redis.example" + ca);  // the server requires a client certificate
}

TEST(OpenRedis, ADatabaseIsAStoreOfItsOwn) {
  const RedisServer server;
  const std::string tcp = "redis://127.0.0.1:" + std::to_string(server.port());
  const Store third = store_at(tcp + "/3");
  const Store none = store_at(tcp);
  push_key(third, "in 3");
  push_key(none, "in 0");
  EXPECT_EQ(keys_due(store_at(socket_url(server, "?db=3"))), Keys{"in 3"});
  EXPECT_EQ(keys_due(store_at(socket_url(server))), Keys{"in 0"});
  EXPECT_EQ(keys_due(third), Keys());
  EXPECT_EQ(keys_due(none), Keys());
}

TEST(OpenRedis, ALoginIsGiven) {
  const RedisServer server({"--requirepass", "secret"});
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  const Store store = store_at("redis://:secret@" + host);
  push_key(store, "k");
  EXPECT_EQ(keys_due(store), Keys{"k"});
  const Error wrong = refusal_of("redis://:guess@" + host);
  EXPECT_EQ(wrong.message.find("guess"), std::string::npos) << wrong.message;
}

TEST(OpenRedis, APayloadMayBeAsLongAsItsLimit) {
  const RedisServer server;
  const Store store = store_at(socket_url(server, "?max_payload=10B"));
  testing::expect_ten_bytes_at_most(store);
}

TEST(OpenRedis, QueuesLieInAsManyPartitionsAsWereAskedFor) {
  const RedisServer server;
  const Store store = store_at(socket_url(server, "?partitions=4"));
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(store.queue("queue-" + std::to_string(i)).push({.key = "k"}));
  }
  // Lists the partitions that have at least one key.
  const std::string found =
      server.ask({"EVAL",
                  "local seen = {} for _, key in ipairs(redis.call('KEYS', '*')) do "
                  "seen[string.match(key, '^tarry:{(%d+)}:') or key] = true end "
                  "local all = {} for name in pairs(seen) do all[#all + 1] = name end "
                  "table.sort(all) return table.concat(all, ' ')",
                  "0"});
  EXPECT_EQ(found, "$7\r\n0 1 2 3\r\n");
}

TEST(OpenRedis, AQueueHasAsManyShardsAsWereAskedFor) {
  const RedisServer server;
  const Store store = store_at(socket_url(server, "?shards=3"));
  push_key(store, "k");
  const std::string record = server.ask({"HGET", "tarry:{0}:queues", "q"});
  EXPECT_NE(record.find("\r\n1 3 "), std::string::npos) << record;  // number, shards, generation
}

TEST(OpenRedis, WithoutItsReplicasAPushIsInDoubt) {
  const RedisServer server;
  const Store store = store_at(socket_url(server, "?wait=1,50ms"));
  const auto pushed = store.queue("q").push({.key = "k"});
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, ErrorCode::unknown_outcome);
  EXPECT_NE(pushed.error().message.find("only 0 of 1 replicas had it within 50 ms"),
            std::string::npos)
      << pushed.error().message;
}

TEST(OpenRedis, AServerThatEvictsIsTakenOnlyWhereThatIsAllowed) {
  const RedisServer server({"--maxmemory-policy", "allkeys-lru"});
  for (const char* options : {"", "?allow_eviction=no"}) {
    const Error refused = refusal_of(socket_url(server, options));
    EXPECT_NE(refused.message.find("allkeys-lru"), std::string::npos) << refused.message;
    EXPECT_NE(refused.message.find("?allow_eviction=yes"), std::string::npos) << refused.message;
  }
  const Store store = store_at(socket_url(server, "?allow_eviction=yes"));
  push_key(store, "k");
  EXPECT_EQ(keys_due(store), Keys{"k"});
}

std::size_t entries_of(const char* directory) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

TEST(OpenRedis, AClosedStoreHasNeitherThreadsNorDescriptorsThoughAQueueLivesOn) {
  const RedisServer server;
  std::thread([] {}).join();  // from here on, a sanitizer's own thread exists
  const std::size_t threads = entries_of("/proc/self/task");
  const std::size_t descriptors = entries_of("/proc/self/fd");
  for (const char* options : {"", "?layout=plain&zset=z"}) {
    Store store = store_at(socket_url(server, options));
    const Queue queue = store.queue("q");
    ASSERT_TRUE(store.stats());
    EXPECT_GT(entries_of("/proc/self/task"), threads);
    store.close();
    EXPECT_EQ(entries_of("/proc/self/task"), threads) << options;
    EXPECT_EQ(entries_of("/proc/self/fd"), descriptors) << options;
    const auto pushed = queue.push({.key = "k"});
    ASSERT_FALSE(pushed);
    EXPECT_EQ(pushed.error().code, ErrorCode::closed);
  }
}

}  // namespace
}  // namespace tarry
