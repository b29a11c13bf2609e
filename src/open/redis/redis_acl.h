// The permissions that a Redis user needs for the store that a URL names.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

namespace tarry::tools {

/// Rules for ACL SETUSER, without the password. An empty `url` means a single server and any
/// database. `old_redis`: for Redis 6.2, which has no sharded channels. Errors: `invalid_argument`
/// for a URL that is ill-formed or names another kind of store.
[[nodiscard]] Result<std::vector<std::string>> redis_acl(std::string_view url, bool old_redis);

}  // namespace tarry::tools
