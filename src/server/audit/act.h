// Act: what a client asked for, as far as a person may ask later who did it. Each act leaves a line
// in the audit log.
//
// Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tarry::audit {

enum class Act : std::uint8_t {
  cancel,
  reschedule,
  revive,
  remove_dead,  // many dead messages, chosen by a filter
  bury,         // by hand: a client asked for it, as against a last attempt that failed
  bulk,         // one of the verbs on many messages, refused before the server knew which
  purge,
  pause,
  resume,
  remove,  // a whole queue
  configure,
  reshard,
  import_messages,
  move_away,
  put_schedule,
  remove_schedule,
  pause_schedule,
  resume_schedule,
  run_schedule,
  end_session,  // of the console, another's or one's own
  token_refused,
};

inline constexpr std::array kActs = {
    Act::cancel,          Act::reschedule,     Act::revive,
    Act::remove_dead,     Act::bury,           Act::bulk,
    Act::purge,           Act::pause,          Act::resume,
    Act::remove,          Act::configure,      Act::reshard,
    Act::import_messages, Act::move_away,      Act::put_schedule,
    Act::remove_schedule, Act::pause_schedule, Act::resume_schedule,
    Act::run_schedule,    Act::end_session,    Act::token_refused};

[[nodiscard]] constexpr std::string_view to_string(Act act) noexcept {
  switch (act) {
    case Act::cancel: return "cancel";
    case Act::reschedule: return "reschedule";
    case Act::revive: return "revive";
    case Act::remove_dead: return "remove_dead";
    case Act::bury: return "bury";
    case Act::bulk: return "bulk";
    case Act::purge: return "purge";
    case Act::pause: return "pause";
    case Act::resume: return "resume";
    case Act::remove: return "remove";
    case Act::configure: return "configure";
    case Act::reshard: return "reshard";
    case Act::import_messages: return "import";
    case Act::move_away: return "move_away";
    case Act::put_schedule: return "put_schedule";
    case Act::remove_schedule: return "remove_schedule";
    case Act::pause_schedule: return "pause_schedule";
    case Act::resume_schedule: return "resume_schedule";
    case Act::run_schedule: return "run_schedule";
    case Act::end_session: return "end_session";
    case Act::token_refused: return "token_refused";
  }
  return "unknown";
}

}  // namespace tarry::audit
