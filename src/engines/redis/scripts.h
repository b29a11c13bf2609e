// The scripts that run within Redis: one a command. Each is put together of pieces in scripts/, of
// which the first is the prelude; docs/formats/redis.md has every script's contract.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/redis.h"

namespace tarry::redis {

enum class Script : std::uint8_t {
  open_store,
  open_queue,
  take_ids,
  sweep,
  create,
  push,
  pushed,
  move,
  claim,
  claim_keys,
  ack,
  settle,
  extend,
  cancel,
  reschedule,
  get,
  list,
  stats,
  configure,
  revive,
  purge,
  tick,
};
inline constexpr std::size_t kScripts = 22;

[[nodiscard]] std::string_view name_of(Script script) noexcept;
/// Wake-ups are published on channels of that kind.
[[nodiscard]] std::string text_of(Script script, net::RedisChannels channels);

}  // namespace tarry::redis
