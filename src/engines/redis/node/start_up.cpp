#include "engines/redis/node/start_up.h"

#include <charconv>
#include <compare>
#include <random>
#include <utility>

#include "engines/redis/records/told_time.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// The value of "name:value" on a line of its own; empty if there is none.
std::string_view field(std::string_view info, std::string_view name) noexcept {
  while (!info.empty()) {
    const std::size_t end = info.find('\n');
    std::string_view line = info.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      return line.substr(name.size() + 1);
    }
    if (end == std::string_view::npos) break;
    info.remove_prefix(end + 1);
  }
  return {};
}

struct Version {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

Version version_of(std::string_view text) noexcept {
  Version version;
  const char* end = text.data() + text.size();
  const auto after = std::from_chars(text.data(), end, version.major);
  if (after.ec == std::errc() && after.ptr < end) {
    (void)std::from_chars(after.ptr + 1, end, version.minor);
  }
  return version;
}

std::string random_secret() {
  std::random_device random;
  const std::uint64_t secret = (std::uint64_t{random()} << 32) | random();
  return std::to_string(secret);
}

Result<StoreFacts> read_record(const Server& server, net::RedisView record,
                               std::optional<std::uint32_t> partitions) {
  const std::string store = "the store in Redis at " + server.name() + " ";
  if (record.size() != 4) return strange_reply(server, Script::open_store);
  const std::int64_t schema = record[0].integer();
  if (schema < kOldestSchema || schema > kSchema) {
    return Unexpected(ErrorCode::unsupported,
                      store + "has schema " + std::string(record[0].text()) +
                          "; this version of tarry knows schemas " + std::to_string(kOldestSchema) +
                          " to " + std::to_string(kSchema));
  }
  StoreFacts facts;
  facts.schema = schema;
  const std::int64_t there = record[1].integer();
  const std::string_view secret = record[2].text();
  const auto read = std::from_chars(secret.data(), secret.data() + secret.size(), facts.secret);
  if (there < 1 || there > kMaxPartitions || read.ec != std::errc()) {
    return Unexpected(ErrorCode::damaged, store + "has a record that cannot be read");
  }
  facts.partitions = static_cast<std::uint32_t>(there);
  if (partitions && *partitions != facts.partitions) {
    return Unexpected(ErrorCode::invalid_argument,
                      "option partitions is " + std::to_string(*partitions) + ", and " + store +
                          "was made with " + std::to_string(facts.partitions));
  }
  return facts;
}

}  // namespace

Result<ServerFacts> check_server(std::string_view info, const std::string& name, ServerWish wish) {
  const std::string redis = "Redis at " + name + " ";
  const std::string_view spelled = field(info, "redis_version");
  const Version version = version_of(spelled);
  if (version < Version{6, 2}) {
    return Unexpected(ErrorCode::unsupported, redis + "is of version " +
                                                  std::string(spelled.empty() ? "?" : spelled) +
                                                  "; tarry needs 6.2 or later");
  }
  const std::string_view mode = field(info, "redis_mode");
  if (mode == "sentinel") {
    return Unexpected(ErrorCode::invalid_argument, redis + "is a sentinel; use redis+sentinel://");
  }
  if (mode == "cluster" && !wish.cluster) {
    return Unexpected(ErrorCode::invalid_argument,
                      redis + "is part of a cluster; use redis+cluster://");
  }
  const std::string_view policy = field(info, "maxmemory_policy");
  if (!wish.allow_eviction && !policy.empty() && policy != "noeviction") {
    return Unexpected(ErrorCode::invalid_argument,
                      redis + "evicts keys when it is full (maxmemory-policy " +
                          std::string(policy) +
                          "), and messages with them; set noeviction there, or accept the loss "
                          "with ?allow_eviction=yes");
  }
  ServerFacts facts;
  if (wish.cluster && version.major >= 7) facts.channels = net::RedisChannels::sharded;
  if (field(info, "aof_enabled") == "0") {
    facts.warning = redis +
                    "keeps no append-only file: messages accepted since its last snapshot are lost "
                    "when it dies (appendonly yes keeps them)";
  }
  return facts;
}

Result<ServerFacts> check_masters(const std::vector<Server::FromMaster>& infos, ServerWish wish) {
  ServerFacts all;
  all.channels = net::RedisChannels::sharded;
  for (const Server::FromMaster& master : infos) {
    auto facts = check_server(master.reply.view().text(), master.server, wish);
    if (!facts) return facts;
    if (facts->channels == net::RedisChannels::plain) all.channels = net::RedisChannels::plain;
    if (all.warning.empty()) all.warning = facts->warning;
  }
  return all;
}

void open_store(Server& server, std::optional<std::uint32_t> partitions,
                base::UniqueFunction<void(Result<StoreFacts>)> done) {
  server.run(
      Script::open_store,
      [&server, partitions, secret = random_secret()](RedisCommand& command) {
        command.add("3").key(partition_key(0, "store")).key(partition_key(0, "queues"));
        command.key(partition_key(0, "numbers")).add(kSchema);
        command.add(std::int64_t{partitions.value_or(kDefaultPartitions)}).add(secret);
        command.add(kOldestSchema).add(server.time_argument());
      },
      [&server, partitions, done = std::move(done)](Result<RedisReply> reply) mutable {
        if (!reply) return done(std::move(reply).error());
        server.clock().told(told_time(reply->view()[3]));
        done(read_record(server, reply->view(), partitions));
      });
}

}  // namespace tarry::redis
