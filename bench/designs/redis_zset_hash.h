// Design (e) of FIGURES.md: a ZSET of ids by due time and a HASH of bodies, as in S10 of
// SOURCES.md, with the smallest change that delivers at least once: a claim moves its messages to a
// ZSET of leases, and an ack removes them there. It has no fence and no attempts.
//
// There are two variants. The plain one overwrites what is there. The truthful one tells of each
// message whether its key was taken, by a message that waits or is leased, and leaves that message
// as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "designs/piped.h"

namespace tarry::bench {

/// A message's id is its key, or a number if it has no key. A lease lasts 30 s unless another
/// length is given.
[[nodiscard]] std::unique_ptr<Piped> make_redis_zset_hash(const std::string& socket_path);
[[nodiscard]] std::unique_ptr<Piped> make_redis_zset_hash(const std::string& socket_path,
                                                          std::int64_t lease_ms);
[[nodiscard]] std::unique_ptr<Piped> make_truthful_zset_hash(const std::string& socket_path);

}  // namespace tarry::bench
