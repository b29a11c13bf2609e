// The scripts that run within Redis, one for each command. Each consists of pieces in scripts/; the
// first piece is the prelude. docs/formats/redis.md has every script's contract.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/redis/redis.h"

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
  // The claims of queues with limits: scripts/gate.lua.
  claim_limited,
  claim_keys_limited,
  ack,
  settle,
  extend,
  cancel,
  reschedule,
  get,
  list,
  scan,
  stats,
  forecast,
  configure,
  revive,
  purge,
  tick,
  inbox_read,
  inbox_take,
  inbox_done,
  // Resharding: docs/decisions/0006-resharding.md.
  push_closed,
  parted,
  adopt,
  reshard_record,
  reshard_room,
  reshard_close,
  reshard_step,
  reshard_look,
  reshard_read,
  reshard_put,
  reshard_leave,
  reshard_adopt,
  reshard_clean,
  reshard_inbox,
  reshard_seen,
  reshard_count,
  reshard_retire,
  remove_hold,
  remove_begin,
  remove_go_on,
  remove_shard,
  remove_end,
  // On queues of a layout: docs/formats/redis-layouts.md.
  layout_push,
  layout_claim,
  layout_claim_keys,
  layout_settle,
  layout_extend,
  layout_cancel,
  layout_move_away,
  layout_reschedule,
  layout_get,
  layout_list,
  layout_seen,
  layout_stats,
  layout_forecast,
  layout_purge,
};
inline constexpr std::size_t kScripts = 65;
/// The scripts before it are the native layout's.
inline constexpr Script kFirstLayoutScript = Script::layout_push;

enum class ScriptSet : std::uint8_t { native, layouts };

[[nodiscard]] std::string_view name_of(Script script) noexcept;
/// The script's text. It publishes wake-ups on channels of that kind.
[[nodiscard]] std::string text_of(Script script, net::RedisChannels channels);
/// The commands of these scripts, in small letters, each once: "hset". The commands for publishing
/// are left out, because scripts work without them.
[[nodiscard]] std::vector<std::string> commands_of_scripts(ScriptSet set);

}  // namespace tarry::redis
