// Coordination by ephemeral nodes in a ZooKeeper, which disappear with the session that made them:
//
//   PATH/relays/GROUP/members/m-NAME-SEQUENCE one for each relay; the sequence is the order of
//   arrival PATH/relays/GROUP/units/QUEUE%2FSHARD one for each unit that has an owner
//
// Each relay watches both folders, and gives up or takes units by the rule of fair_part.h. The
// relay that creates a unit's node owns the unit.
//
// Thread safety: that of Coordination. It works on a thread of its own; the library has two more.
#pragma once

#include <memory>
#include <string>

#include "relay/coordination/coordination.h"

namespace tarry::relay {

struct ZooKeeperOptions {
  std::string hosts;  // "a:2181,b:2181"
  std::string path;   // "/tarry"; made if missing
  std::string group;  // relays with the same group share the units
  /// The session's length. The server limits it by its own minimum and maximum.
  Millis session = kDefaultSession;
};

[[nodiscard]] std::unique_ptr<Coordination> zookeeper_coordination(ZooKeeperOptions options);

}  // namespace tarry::relay
