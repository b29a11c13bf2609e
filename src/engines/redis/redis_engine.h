// The Redis engine: a store in Redis or Valkey, shared by any number of processes.
// docs/formats/redis.md describes the store's keys. Each command of the verb table is one script.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tarry/log.h>
#include <tarry/result.h>

#include "core/engine.h"
#include "core/limits.h"
#include "engines/redis/node/replica_wait.h"
#include "net/redis/redis_client.h"
#include "timing/manual_clock.h"

namespace tarry::redis {

struct RedisEngineOptions {
  net::RedisOptions server;
  /// Some nodes of a cluster. If not empty, used instead of `server`.
  std::vector<net::RedisAddress> cluster;
  /// Fixed when the store is made. Empty: the store's number, or kDefaultPartitions for a new
  /// store.
  std::optional<std::uint32_t> partitions;
  std::uint32_t shards = 1;  // of queues that this engine makes
  bool allow_eviction = false;
  ReplicaWish wait;  // 0 replicas: answers are not held back
  core::Limits limits;
  std::int64_t inbox_hold_ms = 2'000;  // inbox.h
  /// Tests only: how many calls one step of a reshard, or a removal, may make before it fails as if
  /// Redis were unreachable. Negative: any number.
  std::int64_t reshard_calls = -1;
  /// Tests only: Lua that stands before each script; SCRIPT is the script's name there.
  std::string before_scripts;
  /// Tests only: used instead of Redis's time by everything that works on the store.
  std::shared_ptr<timing::ManualClock> clock;
  /// Called with a line for the operator; on the engine's thread.
  Log log;
};

/// Connects, checks the server and the store there, and starts the engine's thread. Errors:
/// `unavailable` if no server answers; `permission_denied` for a wrong user or password;
/// `invalid_argument` if the server is not Redis, would lose messages (maxmemory-policy), is part
/// of a cluster, or has a store with other partitions; `unsupported` for a server that is too old;
/// `damaged` for keys under tarry's names that are not tarry's.
[[nodiscard]] Result<std::unique_ptr<core::Engine>> open_redis(RedisEngineOptions options);

}  // namespace tarry::redis
