#include "engines/redis/node/acl.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "engines/redis/node/scripts.h"

namespace tarry::redis {
namespace {

// These functions say in which stores a command is needed.
bool always(const AclWish&) { return true; }
bool on_cluster(const AclWish& wish) { return wish.cluster; }
bool with_sentinel(const AclWish& wish) { return wish.sentinel; }
bool with_wait(const AclWish& wish) {
  return wish.wait || wish.cluster;
}  // in a cluster, reshards
   // use WAIT
bool with_select(const AclWish& wish) { return wish.select && !wish.cluster; }
bool with_plain_channels(const AclWish& wish) { return !wish.cluster || !wish.sharded; }
bool with_sharded_channels(const AclWish& wish) { return wish.cluster && wish.sharded; }

struct SentCommand {
  std::string_view name;
  bool (*is_needed)(const AclWish&);
};

// The commands that the client (src/net) or the verbs send to Redis. Commands that scripts call are
// not here: they are read from the scripts. AUTH needs no rule.
constexpr SentCommand kSent[] = {
    {"ping", always},
    {"info", always},
    {"client|setname", always},
    {"select", with_select},
    {"role", with_sentinel},
    {"cluster|slots", on_cluster},
    {"asking", on_cluster},
    {"subscribe", with_plain_channels},
    {"publish", with_plain_channels},
    {"ssubscribe", with_sharded_channels},
    {"spublish", with_sharded_channels},
    {"script|load", always},
    {"evalsha", always},
    {"eval", always},
    {"multi", always},
    {"exec", always},
    {"wait", with_wait},
    {"persist", always},  // scripts/create.lua, which works without it if it must
    {"hget", always},
    {"hgetall", always},
    {"hset", always},
    {"hdel", always},
    {"zadd", always},
    {"zrem", always},
};

}  // namespace

std::vector<std::string> acl_rules(const AclWish& wish) {
  std::set<std::string> commands;
  for (const SentCommand& sent : kSent) {
    if (sent.is_needed(wish)) commands.emplace(sent.name);
  }
  for (std::string& called : commands_of_scripts(ScriptSet::native)) {
    commands.insert(std::move(called));
  }
  std::vector<std::string> rules = {"resetchannels", "&tarry:*", "~tarry:*"};
  for (const std::string& command : commands) rules.push_back("+" + command);
  return rules;
}

}  // namespace tarry::redis
