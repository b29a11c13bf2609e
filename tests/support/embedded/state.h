// For tests: a shard's state as text, with everything that replay must restore: two states are the
// same if their lines are the same.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/settings/grouping.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded::test {

inline void tell(std::ostream& out, const QueueCounters& c) {
  out << c.accepted << ' ' << c.acked << ' ' << c.cancelled << ' ' << c.replaced << ' ' << c.expired
      << ' ' << c.purged << ' ' << c.moved_away << ' ' << c.claims << ' ' << c.retries << ' '
      << c.releases << ' ' << c.run_outs << ' ' << c.buries << ' ' << c.revives << ' '
      << c.reschedules << ' ' << c.damaged;
}

// `leases`: includes the ends of leases. A lease begins when its claim is durable, which no record
// says.
inline std::string message_line(const ShardState& state, Handle handle, bool leases) {
  const Message& m = state.slab[handle];
  // A ready message counts as scheduled, because only time makes it ready.
  const Carried c = state.carried(handle);
  std::ostringstream out;
  out << "message " << m.id << " at " << handle << " queue " << m.queue << " stage "
      << static_cast<int>(c.stage) << " due " << m.due_ms() << " boot "
      << state.boot_due_ms(m).value_or(-1) << " priority " << m.priority << " made "
      << int{m.generated_key} << " stopping " << c.stopping << " most "
      << state.own.max_attempts(handle) << " attempt " << c.attempt << " tallies "
      << c.tallies.claims << ' ' << c.tallies.run_outs << ' ' << c.tallies.releases << ' '
      << c.tallies.buries << ' ' << c.tallies.revives << " raw " << m.position.raw() << " expires "
      << state.own.expiry(handle).at_ms << ' ' << state.own.expiry(handle).after_ms;
  if (const Group* const group = state.queue(m.queue).lanes.group_of(handle)) {
    out << " group " << *group->name;
  }
  // In other stages these fields are left over from before.
  if (c.stage == Stage::leased) out << " lease " << c.stamp_ms;
  if ((c.stage == Stage::leased && leases) || c.stage == Stage::dead ||
      c.stage == Stage::remembered) {
    out << " until " << c.until_ms << " stamp " << c.stamp_ms;
  }
  if (c.stage == Stage::dead) out << " reason " << c.reason;
  if (c.stage == Stage::remembered) out << " ending " << static_cast<int>(c.ending);
  std::string_view events = c.events;
  while (const auto event = take_event(events)) {
    out << " event " << to_string(event->kind) << ' ' << event->at_ms << ' ' << event->attempt
        << ' ' << event->due_ms << ' ' << event->text;
  }
  return out.str();
}

inline std::string queue_line(const QueueState& queue) {
  std::ostringstream out;
  const QueueSettings& s = queue.settings;
  out << "queue " << queue.name << " settings " << s.lease.count() << ' ' << s.max_attempts << ' '
      << s.backoff_min.count() << ' ' << s.backoff_max.count() << ' ' << s.remember.count() << ' '
      << s.dead_keep.count() << ' ' << static_cast<int>(s.if_exists) << ' ' << s.expire.count()
      << ' ' << to_string(s.on_expiry) << ' ' << s.max_leased << ' ' << s.rate.count << '/'
      << s.rate.per.count() << '/' << s.rate.burst << ' ' << core::grouping_text(s.group) << ' '
      << s.group_max_leased << " history " << s.history << ' ' << to_string(s.group_order)
      << " paused " << queue.paused << ' ' << queue.paused_until_ms.value_or(-1) << " counters ";
  tell(out, queue.counters);
  out << " pending " << queue.in(Stage::scheduled) + queue.in(Stage::ready) << " leased "
      << queue.in(Stage::leased) << " dead " << queue.in(Stage::dead) << " remembered "
      << queue.in(Stage::remembered);
  return out.str();
}

inline std::string describe(const ShardState& state, bool leases = true) {
  std::ostringstream out;
  for (QueueId queue = 0; queue < state.queues.size(); ++queue) {
    out << queue_line(state.queue(queue)) << '\n';
  }
  std::map<std::uint64_t, Handle> by_id;
  for (Handle handle = 0; handle < state.slab.end(); ++handle) {
    if (state.slab.is_live(handle)) by_id[state.slab[handle].id] = handle;
  }
  for (const auto& [id, handle] : by_id) out << message_line(state, handle, leases) << '\n';
  out << "next id " << state.next_id_mark() << " mark " << state.low_water() << " pending "
      << state.pending() << " live " << state.live.total_bytes() << '\n';
  return out.str();
}

/// For every queue, accepted = the messages that exist + the counts of those that ended.
inline bool conserves(const ShardState& state) {
  for (QueueId id = 0; id < state.queues.size(); ++id) {
    const QueueState& q = state.queue(id);
    const QueueCounters& c = q.counters;
    if (c.accepted != q.in(Stage::scheduled) + q.in(Stage::ready) + q.in(Stage::leased) +
                          q.in(Stage::dead) + c.acked + c.cancelled + c.replaced + c.expired +
                          c.purged + c.moved_away) {
      return false;
    }
  }
  return true;
}

}  // namespace tarry::embedded::test
