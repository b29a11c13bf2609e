// One call of a claim script, and its parsed answer.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "core/reply.h"
#include "engines/redis/layouts/keys/layout_call.h"
#include "engines/redis/layouts/redisson/redisson_value.h"

namespace tarry::redis {

struct LookWish {
  std::uint32_t max = 0;
  std::int64_t lease_ms = 0;
  std::uint64_t bytes = 0;
  bool first_goes = false;
  std::string nonce;                  // of kNonceDigits hex digits
  std::size_t turn = 0;               // which set goes first
  std::vector<std::uint32_t> shards;  // the sets to look at, from 0; empty: all
  bool by_member = false;             // claims only `members`
  bool any_state = false;             // only with `members`
  std::vector<std::string> members;
};
void add_wish(const LayoutSpec& spec, const LookWish& wish, net::RedisCommand& command);

struct LookAnswer {
  std::size_t taken = 0;
  std::uint64_t bytes = 0;
  std::optional<std::int64_t> again_ms;  // from now; empty: there is no message
  std::int64_t odd = 0;                  // members that are no messages
  std::string first_odd;
  std::size_t undecoded = 0;  // values that do not fit `decode`
  std::string wrong_unit;     // a score that is in the other unit; empty: there is none
  Seen seen;                  // redisson
};
/// Nothing for an answer that no script of ours gives.
[[nodiscard]] std::optional<LookAnswer> read_look(const LayoutSpec& spec, const LayoutKeys& keys,
                                                  const LookWish& wish, net::RedisView told,
                                                  core::ClaimReply& into,
                                                  base::Histogram& lateness);

}  // namespace tarry::redis
