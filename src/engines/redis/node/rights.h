// Whether the user may run all commands that scripts run. Checked before a store is written to, and
// again after a script was refused a command. Redis checks a right only when a command runs, and
// the script's earlier commands are not undone.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/redis/node/server.h"
#include "engines/redis/records/layout_spec.h"

namespace tarry::redis {

struct RightsWish {
  std::vector<std::string> commands;  // in small letters
  std::string key;                    // such as they are used on; nothing may be under it
  std::string_view told_by;           // what lists the needed rules
  bool tries = false;                 // by commands that change nothing, as 6.2 does anyway
};
/// The rights for the native layout's scripts, and those for another layout's.
[[nodiscard]] RightsWish native_rights();
[[nodiscard]] RightsWish layout_rights(Layout layout, const std::string& lease_prefix);

/// Asks each master. `permission_denied` names the rules that are missing.
void check_rights(Server& server, const RightsWish& wish,
                  base::UniqueFunction<void(Result<void>)> done);

}  // namespace tarry::redis
