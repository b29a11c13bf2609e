// Design (e) of FIGURES.md: a ZSET of ids by due time and a HASH of bodies, as SOURCES.md's S10 has
// them, made the simplest that delivers at least once: what is claimed moves to a ZSET of leases,
// and an ack takes it from there. It has no fence, no attempts, no checks of what it overwrites.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "designs/piped.h"

namespace tarry::bench {

/// A message's id is its key, or a number where it has none. A lease lasts 30 s where none is
/// named.
[[nodiscard]] std::unique_ptr<Piped> make_redis_zset_hash(const std::string& socket_path);
[[nodiscard]] std::unique_ptr<Piped> make_redis_zset_hash(const std::string& socket_path,
                                                          std::int64_t lease_ms);

}  // namespace tarry::bench
