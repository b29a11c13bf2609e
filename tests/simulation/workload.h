// Workload: what a seed draws. The options of one world, and a script of steps; both follow from
// the seed alone, so a world can be lived again, and a script can be shortened.
//
// Swarm testing (Groce et al., "Swarm Testing", ISSTA 2012): each seed has its own weights, many of
// them zero, because what never happens lets the rest go further.
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
  sync,     // what the committer does on its own with 100ms
  advance,
  step,     // of the wall clock, either way
  drift,    // the wall clock runs a little off
  fill,     // the disk has no more room than it uses now, and a little
  room,     // it has again
  fault,    // a later call of the disk fails
  kill,     // the process ends
  power,    // the machine loses power
  reboot,   // that, and starts again
  close,    // the store is closed and opened
  rebuild,  // a state is replayed from the journal beside the living one
  rot,      // one byte of a copy of the disk turns: opened, it refuses or nothing is lost
  remove,   // a queue, with nothing else under way; now and then a crash cuts it short
  kCount,
};
inline constexpr std::size_t kOps = static_cast<std::size_t>(Op::kCount);
[[nodiscard]] std::string_view to_string(Op op) noexcept;

struct Step {
  Op op = Op::nothing;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint32_t c = 0;       // a seed of its own, where more is to be drawn
  bool turns = true;         // a turn follows
  std::uint8_t commits = 3;  // so many jobs are made durable after it, at most
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
  std::uint64_t recent_bytes = 0;  // of the journal that are read back from RAM
  std::uint32_t queues = 1;
  std::uint32_t keys = 8;
  std::uint32_t payload = 64;  // bytes at most
  std::uint32_t reason = 0;    // bytes at most, of what is buried or retried; 0: a few, buried
  bool small_steps = false;    // of the clock: below what the store takes for a step
  std::uint32_t steps = 100;
  std::array<std::uint8_t, kOps> weights{};
};
[[nodiscard]] Options options_of(std::uint64_t seed);
[[nodiscard]] std::vector<Step> script_of(const Options& options);
[[nodiscard]] std::string to_string(const Options& options);

/// Names that have broken stores before: long, binary, like ours, with braces.
[[nodiscard]] std::string key_of(std::uint32_t number);

}  // namespace tarry::simulation
