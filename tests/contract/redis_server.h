// The redis-server on which the suite's Redis stores live: one a process, started when it is first
// asked for.
#pragma once

#include <string>

namespace tarry::contract {

/// "redis+unix:///...", without options.
[[nodiscard]] std::string redis_url();
/// Leaves nothing in it. Throws where it does not answer.
void clear_redis();

}  // namespace tarry::contract
