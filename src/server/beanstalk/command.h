// Command: one command of beanstalkd's protocol, as a client sent it. The grammar is that of
// beanstalkd 1.12, with its leniencies: a verb is recognised by its first letters, and spaces
// before a number do not count.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tarry::beanstalk {

enum class Verb : std::uint8_t {
  unknown,
  put,
  peek,
  peek_ready,
  peek_delayed,
  peek_buried,
  reserve,
  reserve_with_timeout,
  reserve_job,
  erase,
  release,
  bury,
  kick,
  kick_job,
  touch,
  stats,
  stats_job,
  stats_tube,
  use,
  watch,
  ignore,
  list_tubes,
  list_tube_used,
  list_tubes_watched,
  quit,
  pause_tube,
  // tarry's own:
  auth,
  put_key,
  cancel_key,
  reschedule_key,
};
inline constexpr std::size_t kVerbs = static_cast<std::size_t>(Verb::reschedule_key) + 1;

/// As in the protocol ("reserve-job"); the name of its route in the metrics.
[[nodiscard]] std::string_view to_string(Verb verb) noexcept;

/// Why a command is answered without being carried out.
enum class Fault : std::uint8_t {
  none,
  bad_format,
  unknown_command,
  too_big,        // the job's body was thrown away
  expected_crlf,  // the job's body is not as long as announced
  out_of_memory,  // the job's body was thrown away
};

struct Command {
  Verb verb = Verb::unknown;
  Fault fault = Fault::none;
  std::uint64_t id = 0;
  std::uint32_t priority = 0;
  std::uint32_t delay = 0;     // seconds
  std::uint32_t ttr = 0;       // seconds
  std::uint32_t size = 0;      // bytes of the job's body
  std::uint32_t count = 0;     // kick
  std::int32_t timeout = -1;   // seconds; negative: for ever
  std::string_view name = {};  // of a tube; the key, of tarry's own verbs; the token, of auth
  std::string_view body = {};
  bool has_garbage = false;  // put: after its last number
};

/// Whether a body follows the command's line.
[[nodiscard]] constexpr bool has_body(Verb verb) noexcept {
  return verb == Verb::put || verb == Verb::put_key;
}

/// The longest line, its end included. Lines of tarry's own verbs may be longer, because they have
/// keys.
inline constexpr std::size_t kMaxLine = 224;
inline constexpr std::size_t kMaxOwnLine = 1024;
[[nodiscard]] std::size_t max_line(std::string_view begin) noexcept;

/// `line`: without its end. The views of the command point into it.
[[nodiscard]] Command parse_command(std::string_view line) noexcept;

/// Whether a tube may have the name: beanstalkd's letters, and at most as many as a queue's name.
[[nodiscard]] bool is_tube_name(std::string_view name) noexcept;

}  // namespace tarry::beanstalk
