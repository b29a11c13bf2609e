// How relays divide their queues among themselves, as given by `--coordination` and `coordination
// =`:
//
//   all                                    claim by claim: shards are not divided
//   redis                                  by leases in the store's own Redis
//   redis://HOST[:PORT][/DB] and the like  by leases in that Redis
//   zookeeper://HOST[:PORT][,HOST...][/PATH]   by ephemeral nodes, in /tarry unless PATH is given
//
// Relays form a group if they serve the same queues of the same store, given by the same names. A
// native store in Redis has an identity of its own. Any other store is identified by its URL, and a
// store on this machine by the machine's name as well.
//
// Thread safety: pure functions, except for files that a URL names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "app/relays/relay_plan.h"
#include "base/loaded_library.h"
#include "relay/coordination/coordination.h"

namespace tarry::app {

struct SharedStore {
  std::string_view url;
  std::string name;  // core::Capabilities::store
};

/// Errors: `invalid_argument` for an unknown coordination, or a session out of bounds;
/// `unsupported` for a coordination that is not built in. `store`: the store's URL; empty if it is
/// not known yet.
[[nodiscard]] Result<void> check_coordination(const RelayPlan& plan, std::string_view store);

/// Returns null for `all`. Errors as above.
[[nodiscard]] Result<std::unique_ptr<relay::Coordination>> make_coordination(
    const RelayPlan& plan, const SharedStore& store);

/// What coordination by ZooKeeper needs; null if it is not built in.
[[nodiscard]] const base::LoadedLibrary* zookeeper_library();

/// The kinds of coordination that are built in.
[[nodiscard]] std::vector<std::string_view> coordination_kinds();

}  // namespace tarry::app
