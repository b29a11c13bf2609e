#include "open/urls/redis_url.h"

#include <gtest/gtest.h>

#include "open/urls/store_url.h"

namespace tarry::detail {
namespace {

RedisUrl redis_of(std::string_view url) {
  const auto parsed = parse_store_url(url);
  EXPECT_TRUE(parsed) << url << ": " << (parsed ? "" : parsed.error().message);
  const auto* redis = parsed ? std::get_if<RedisUrl>(&*parsed) : nullptr;
  EXPECT_NE(redis, nullptr) << url;
  return redis == nullptr ? RedisUrl() : *redis;
}

TEST(RedisUrl, NamesAHostAPortAndADatabase) {
  const RedisUrl bare = redis_of("redis://h");
  EXPECT_EQ(bare.hosts.at(0).host, "h");
  EXPECT_EQ(bare.hosts.at(0).port, 6379);
  EXPECT_EQ(bare.database, 0u);
  EXPECT_FALSE(bare.tls);
  EXPECT_FALSE(bare.partitions || bare.shards || bare.max_payload || bare.allow_eviction);
  EXPECT_EQ(redis_of("redis://h/").database, 0u);

  const RedisUrl full = redis_of("rediss://[::1]:7000/12");
  EXPECT_EQ(full.hosts.at(0).host, "::1");
  EXPECT_EQ(full.hosts.at(0).port, 7000);
  EXPECT_EQ(full.database, 12u);
  EXPECT_TRUE(full.tls);
}

TEST(RedisUrl, NamesASocket) {
  const RedisUrl url = redis_of("redis+unix:///run/my%20redis.sock?db=3");
  EXPECT_EQ(url.unix_path, "/run/my redis.sock");
  EXPECT_EQ(url.database, 3u);
  EXPECT_TRUE(url.hosts.empty());
}

TEST(RedisUrl, NamesSomeNodesOfACluster) {
  const RedisUrl url = redis_of("rediss+cluster://ann:pw@a:7000,[::1],c.example:7002?shards=4");
  EXPECT_EQ(url.topology, RedisUrl::Topology::cluster);
  ASSERT_EQ(url.hosts.size(), 3u);
  EXPECT_EQ(url.hosts[0].host, "a");
  EXPECT_EQ(url.hosts[0].port, 7000);
  EXPECT_EQ(url.hosts[1].host, "::1");
  EXPECT_EQ(url.hosts[1].port, 6379);
  EXPECT_EQ(url.hosts[2].host, "c.example");
  EXPECT_EQ(url.hosts[2].port, 7002);
  EXPECT_EQ(url.user, "ann");
  EXPECT_EQ(url.shards, 4u);
  EXPECT_TRUE(url.tls);
}

TEST(RedisUrl, NamesSentinelsAndTheirMaster) {
  const RedisUrl url = redis_of(
      "redis+sentinel://:pw@a,b:1/2?master=mymaster&sentinel_user=s&sentinel_password_file=/p");
  EXPECT_EQ(url.topology, RedisUrl::Topology::sentinel);
  ASSERT_EQ(url.hosts.size(), 2u);
  EXPECT_EQ(url.hosts[0].port, 26379);
  EXPECT_EQ(url.hosts[1].port, 1);
  EXPECT_EQ(url.master, "mymaster");
  EXPECT_EQ(url.password, "pw");
  EXPECT_EQ(url.database, 2u);
  EXPECT_EQ(url.sentinel_user, "s");
  EXPECT_EQ(url.sentinel_password_file, "/p");
}

TEST(RedisUrl, HoldsALogin) {
  const RedisUrl full = redis_of("redis://ann:p%40ss:w/rd@h/1");
  EXPECT_EQ(full.user, "ann");
  EXPECT_EQ(full.password, "p@ss:w/rd");
  EXPECT_EQ(full.hosts.at(0).host, "h");
  EXPECT_EQ(full.database, 1u);
  EXPECT_EQ(redis_of("redis://:secret@h").user, "");
  EXPECT_EQ(redis_of("redis://:secret@h").password, "secret");
  const RedisUrl file = redis_of("redis+unix:///s?user=ann&password_file=/run/p%3Fw");
  EXPECT_EQ(file.user, "ann");
  EXPECT_EQ(file.password_file, "/run/p?w");
}

TEST(RedisUrl, TakesOptions) {
  const RedisUrl url = redis_of(
      "redis://h?partitions=64&shards=4&layout=native&max_payload=4KiB&allow_eviction=yes");
  EXPECT_EQ(url.partitions, 64u);
  EXPECT_EQ(url.shards, 4u);
  EXPECT_EQ(url.max_payload, 4096u);
  EXPECT_TRUE(url.allow_eviction);
  EXPECT_EQ(url.wait_replicas, 0u);
  const RedisUrl waits = redis_of("redis://h?wait=2");
  EXPECT_EQ(waits.wait_replicas, 2u);
  EXPECT_EQ(waits.wait_timeout_ms, 1'000);
  EXPECT_EQ(redis_of("redis+cluster://h?wait=1").wait_replicas, 1u);
  const RedisUrl briefly = redis_of("redis+sentinel://h?master=m&wait=1,250ms");
  EXPECT_EQ(briefly.wait_replicas, 1u);
  EXPECT_EQ(briefly.wait_timeout_ms, 250);
  const RedisUrl tls = redis_of("rediss://h?ca=/c.pem&cert=/d.pem&key=/e.pem&name=redis.example");
  EXPECT_EQ(tls.ca_file, "/c.pem");
  EXPECT_EQ(tls.certificate_file, "/d.pem");
  EXPECT_EQ(tls.key_file, "/e.pem");
  EXPECT_EQ(tls.server_name, "redis.example");
}

TEST(RedisUrl, NamesALayout) {
  EXPECT_TRUE(redis_of("redis://h").native);
  const RedisUrl plain = redis_of("redis://h?layout=plain&zset=delayqueue:{0..9}&unit=s&queue=q");
  EXPECT_FALSE(plain.native);
  EXPECT_EQ(plain.layout.layout, redis::Layout::plain);
  EXPECT_EQ(plain.layout.zset, "delayqueue:{0..9}");
  EXPECT_EQ(plain.layout.queue, "q");
  EXPECT_TRUE(plain.layout.seconds);
  const RedisUrl hash = redis_of("rediss://h?layout=hash&zset=z&hash=h&unit=ms");
  EXPECT_EQ(hash.layout.layout, redis::Layout::hash);
  EXPECT_EQ(hash.layout.hash, "h");
  EXPECT_FALSE(hash.layout.seconds);
  const RedisUrl java =
      redis_of("redis+unix:///s?layout=redisson&list=dest&decode=json&claim=list&db=2");
  EXPECT_EQ(java.layout.layout, redis::Layout::redisson);
  EXPECT_EQ(java.layout.list, "dest");
  EXPECT_EQ(java.layout.decode, redis::Decode::json);
  EXPECT_TRUE(java.layout.through_list);
}

struct Refused {
  std::string_view url;
  std::string_view names;
  ErrorCode code = ErrorCode::invalid_argument;
};

TEST(RedisUrl, RefusesWhatIsWrongByName) {
  for (const Refused& each : std::initializer_list<Refused>{
           {"redis:h", "redis://[USER:PASSWORD@]HOST"},
           {"redis://", "host \"\""},
           {"redis://h:0", "port"},
           {"redis://h:70000", "65535"},
           {"redis://h/x", "database"},
           {"redis://h/1000001", "1000000"},
           {"redis://ann@h", "without a password"},
           {"redis://h?partitions=0", "partitions"},
           {"redis://h?partitions=1025", "1024"},
           {"redis://h?shards=257", "256"},
           {"redis://h?sync=os", "\"sync\" is not one of redis:"},
           {"redis://h?partition=2", "wait, user, password_file"},
           {"redis://h?partition=2", "did you mean \"partitions\"?"},
           {"redis+sentinel://h?mastr=m", "did you mean \"master\"?"},
           {"redis://h?ca=/x", "\"ca\" is not one of redis:"},
           {"redis://h?db=1", "\"db\" is not one of redis:"},
           {"redis://h?allow_eviction=maybe", "yes or no"},
           {"redis://h?layout=mine", "native, plain, hash or redisson"},
           {"redis://h?zset=z", "layout=native"},
           {"redis://h?layout=plain&shards=4", "layout=plain"},
           {"redis://h?layout=plain&wait=1", "option wait", ErrorCode::unsupported},
           {"redis://h?layout=plain&unit=min", "ms or s"},
           {"redis://h?layout=plain&zset=", "zset"},
           {"redis://h?layout=redisson&decode=java", "kryo5, fst or marshalling"},
           {"redis://h?layout=redisson&claim=both", "direct or list"},
           {"redis+cluster://h?layout=plain", "one server", ErrorCode::unsupported},
           {"redis+sentinel://h?master=m&layout=hash", "layout=hash", ErrorCode::unsupported},
           {"redis://h?wait=0", "wait"},
           {"redis://h?wait=101", "100"},
           {"redis://h?wait=1,", "wait"},
           {"redis://h?wait=1,6s", "\"6s\" must be from 1ms to 5s"},
           {"redis://h?max_payload=1GiB", "64MiB"},
           {"redis://u:p@h?password_file=x", "password_file"},
           {"redis://h?password_file=", "password_file"},
           {"rediss://h?cert=/x", "cert and key"},
           {"redis://a,b", "host \"a,b\""},
           {"redis+cluster://a,,b", "host \"\""},
           {"redis+cluster://a/1", "database"},
           {"redis+cluster://a?master=m", "\"master\" is not one of redis+cluster:"},
           {"redis+sentinel://a", "?master=NAME"},
           {"redis+sentinel://a?master=", "master"},
           {"redis+sentinel://a?master=m&sentinel_user=u", "sentinel_password_file"},
           {"redis+unix://s", "redis+unix:///PATH"},
           {"redis+unix:///", "redis+unix:///PATH"}}) {
    const auto parsed = parse_store_url(each.url);
    ASSERT_FALSE(parsed) << each.url;
    EXPECT_EQ(parsed.error().code, each.code) << each.url;
    EXPECT_NE(parsed.error().message.find(each.names), std::string::npos)
        << each.url << ": " << parsed.error().message;
  }
}

}  // namespace
}  // namespace tarry::detail
