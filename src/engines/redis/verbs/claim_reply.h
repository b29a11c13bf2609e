// Reads the answer of scripts/claim.lua into a ClaimReply.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "core/reply.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

/// What scripts/gate.lua tells.
struct GateAnswer {
  bool limited = false;  // the queue has limits
  bool held = false;     // they permit no further lease
  /// Shards in which leases may have ended without being noticed; indices for
  /// QueuePlaces::open_first.
  std::vector<std::size_t> behind;
};

struct ClaimAnswer {
  std::size_t taken = 0;
  std::uint64_t payload_bytes = 0;
  /// When to look again, in ms from the script's now; empty if no time is known.
  std::optional<std::int64_t> again_ms;
  std::string claim;                 // its number, for damaged messages
  std::vector<std::string> damaged;  // members whose bodies have a wrong checksum
  bool has_expired_left =
      false;  // nothing was claimed, because more have expired than one call ends
  std::optional<GateAnswer> gate;
};

/// Nothing if the answer cannot be read or has more than `most` messages; then `into` is unchanged.
/// Records the lateness of first attempts in `lateness`.
[[nodiscard]] std::optional<ClaimAnswer> read_claim(net::RedisView reply, const Place& place,
                                                    std::uint64_t secret, std::size_t most,
                                                    core::ClaimReply& into,
                                                    base::Histogram& lateness);

}  // namespace tarry::redis
