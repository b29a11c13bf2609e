// What the suites of a queue's limits share.
#pragma once

#include <string>
#include <vector>

#include "contract.h"

namespace tarry::contract {

/// Those of the engines that have groups and histories; if not `groups`, those that refuse them.
/// RabbitMQ is never among them: it refuses all settings.
inline std::vector<EngineSpec> limiting(const std::vector<EngineSpec>& engines,
                                        bool groups = true) {
  std::vector<EngineSpec> chosen;
  for (const EngineSpec& spec : engines) {
    const bool can = spec.kind == Kind::memory || spec.kind == Kind::file;
    if (spec.kind != Kind::rabbitmq && can == groups) chosen.push_back(spec);
  }
  return chosen;
}

/// Those that hold max_leased and rate; if not `can`, those that refuse them.
inline std::vector<EngineSpec> holding_limits(const std::vector<EngineSpec>& engines,
                                              bool can = true) {
  std::vector<EngineSpec> chosen;
  for (const EngineSpec& spec : engines) {
    // In a cluster the shards of a queue lie on several nodes.
    const bool holds = spec.servers != RedisServers::cluster || spec.shards == 1;
    if (spec.kind != Kind::rabbitmq && holds == can) chosen.push_back(spec);
  }
  return chosen;
}

inline const Grouping kByTenant{Grouping::By::header, "tenant"};
inline const Grouping kByKeyPart{Grouping::By::key, {}};
inline const ClaimOptions kGroupWait{.max = 10, .lease = kLongLease, .wait = 1h};

class LimitedQueues : public Contract {
 protected:
  /// Pushes messages with the keys k0, k1, ...
  static void push(const Queue& q, int count) {
    std::vector<std::string> keys;
    for (int i = 0; i < count; ++i) keys.push_back("k" + std::to_string(i));
    std::vector<Push> pushes;
    for (const std::string& key : keys) pushes.push_back({.key = key, .payload = "x"});
    for (const auto& pushed : must(q.push(pushes))) EXPECT_EQ(must(pushed), Outcome::pushed);
  }
};

}  // namespace tarry::contract
