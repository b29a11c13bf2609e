// The rights that a Redis user needs for tarry to work: rules for ACL SETUSER. The commands of the
// scripts are read from their texts; the other commands stand in one table in acl.cpp.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tarry::redis {

struct AclWish {
  bool cluster = false;
  bool sentinel = false;  // for a master and its replicas behind Sentinel
  bool wait = false;      // the option wait=N; a cluster needs WAIT anyway
  bool select = true;     // a database other than 0
  bool sharded = true;    // of a cluster: Redis 7.0 or later
};

/// Channels and keys, then one rule for each command: "resetchannels", "&tarry:*", "~tarry:*",
/// "+hset", "+script|load". Redis 6.2 and later accept these rules.
[[nodiscard]] std::vector<std::string> acl_rules(const AclWish& wish);

}  // namespace tarry::redis
