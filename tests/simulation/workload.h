// Workload: the options of one world, and a script of steps. Both are drawn from the seed alone, so
// a world can be run again, and its script can be shortened.
//
// Swarm testing (Groce et al., "Swarm Testing", ISSTA 2012): each seed has its own weights for the
// steps. Many of them are zero, so that the other steps reach more states.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/embedded/embedded_engine.h"

namespace tarry::simulation {

enum class Op : std::uint8_t {
  push,
  push_many,
  move,
  claim,
  claim_waiting,
  claim_keys,
  ack,
  retry,
  release,
  bury,
  move_away,
  extend,
  cancel,
  reschedule,
  configure,
  pause,
  resume,
  purge,
  revive,
  get,
  list,
  stats,
  nothing,  // a turn without a request
  sync,     // the sync that the committer makes by itself with 100ms
  advance,
  step,     // the wall clock steps forward or back
  drift,    // the wall clock runs slightly too fast or too slow
  fill,     // the disk has little more space than it uses now
  room,     // the disk has enough space again
  fault,    // a later call of the disk fails
  kill,     // the process ends
  power,    // the machine loses power
  reboot,   // the machine loses power and starts again
  close,    // the store is closed and opened
  rebuild,  // the state is rebuilt from the journal and compared
  rot,      // a byte of a copy of the disk changes; opening it must fail, or nothing may be lost
  remove,   // removes a queue, while nothing else is running; sometimes a crash interrupts it
  kCount,
};
inline constexpr std::size_t kOps = static_cast<std::size_t>(Op::kCount);
[[nodiscard]] std::string_view to_string(Op op) noexcept;

struct Step {
  Op op = Op::nothing;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint32_t c = 0;       // a further seed, for steps that draw more
  bool turns = true;         // whether a turn follows
  std::uint8_t commits = 3;  // at most this many jobs are made durable after the step
};
[[nodiscard]] std::string to_string(const Step& step);

struct Options {
  std::uint64_t seed = 0;
  embedded::SyncPolicy policy = embedded::SyncPolicy::always;
  std::uint64_t segment_bytes = 4096;
  std::size_t wheel_slice = 65'536;
  std::uint32_t sweep_slice = 65'536;
  std::uint64_t cleaning_slice = 512 << 10;
  std::uint64_t work_base = 64 << 10;
  std::uint64_t kept_claims = 65'536;
  std::uint64_t recent_bytes = 0;  // of the journal, which are read from RAM
  std::uint32_t queues = 1;
  std::uint32_t keys = 8;
  std::uint32_t payload = 64;  // bytes at most
  std::uint32_t reason = 0;    // bytes at most, of a bury or retry; 0: a few bytes, only for buries
  bool expiry = false;         // messages may expire
  bool limits = false;         // queues may have limits
  bool groups = false;         // and groups
  bool history = false;        // queues may keep histories of their messages
  bool ordered = false;        // which keep the order of pushes
  bool small_steps = false;    // the clock steps by less than the store treats as a step
  std::uint32_t steps = 100;
  std::array<std::uint8_t, kOps> weights{};
};
[[nodiscard]] Options options_of(std::uint64_t seed);
[[nodiscard]] std::vector<Step> script_of(const Options& options);
[[nodiscard]] std::string to_string(const Options& options);

/// Keys that have broken stores before: long ones, binary ones, ones like ours, ones with braces.
[[nodiscard]] std::string key_of(std::uint32_t number);

}  // namespace tarry::simulation
