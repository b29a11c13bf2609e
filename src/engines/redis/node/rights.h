// Checks whether the user may run all commands that scripts run: before anything is written to a
// store, and again after a script was refused a command. Redis itself checks a right only when the
// command runs, and does not undo the script's earlier commands.
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
  std::string key;                    // like the keys of the scripts; it must not exist
  std::string_view told_by;           // the needed rules' source: "tarry store acl prints"
  bool tries = false;                 // check by trying commands, without a change; 6.2 always does
};
/// The rights for the native layout's scripts, and those for another layout's.
[[nodiscard]] RightsWish native_rights();
[[nodiscard]] RightsWish layout_rights(Layout layout, const std::string& lease_prefix);

/// Asks each master. Errors: `permission_denied`, with the rules that are missing.
void check_rights(Server& server, const RightsWish& wish,
                  base::UniqueFunction<void(Result<void>)> done);

}  // namespace tarry::redis
