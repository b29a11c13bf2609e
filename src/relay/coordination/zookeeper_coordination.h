// Coordination by ephemeral nodes in a ZooKeeper, which disappear with the session that made them:
//
//   PATH/relays/GROUP/members/m-NAME-SEQUENCE   one a relay; the sequence is the order of coming
//   PATH/relays/GROUP/units/QUEUE%2FSHARD       one a unit that somebody has
//
// Each relay watches both folders, and gives back or takes units by the rule of fair_part.h. The
// relay that creates a unit's node owns the unit.
//
// Thread safety: as Coordination's. It works on a thread of its own; the library has two more.
#pragma once

#include <memory>
#include <string>

#include "relay/coordination/coordination.h"

namespace tarry::relay {

struct ZooKeeperOptions {
  std::string hosts;  // "a:2181,b:2181"
  std::string path;   // "/tarry"; made if missing
  std::string group;  // relays with the same group share
  /// The session's length. The server limits it by its own minimum and maximum.
  Millis session = kDefaultSession;
};

[[nodiscard]] std::unique_ptr<Coordination> zookeeper_coordination(ZooKeeperOptions options);

}  // namespace tarry::relay
