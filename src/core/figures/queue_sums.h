// Sums of queues' figures: over shards, over queues. Pure functions.
#pragma once

#include <array>
#include <cstdint>

#include <tarry/settings.h>

namespace tarry::core {

inline constexpr std::array kQueueCounterFields = {
    &QueueCounters::accepted,   &QueueCounters::acked,       &QueueCounters::cancelled,
    &QueueCounters::replaced,   &QueueCounters::expired,     &QueueCounters::purged,
    &QueueCounters::moved_away, &QueueCounters::claims,      &QueueCounters::retries,
    &QueueCounters::releases,   &QueueCounters::run_outs,    &QueueCounters::buries,
    &QueueCounters::revives,    &QueueCounters::reschedules, &QueueCounters::damaged};
static_assert(kQueueCounterFields.size() * sizeof(std::uint64_t) == sizeof(QueueCounters));

/// Adds the numbers of messages by state, and keeps the older of the two oldest ready messages.
/// Pauses and waiting claims are not summed here, because the rule for them depends on the caller.
inline void add_states(QueueStats& to, const QueueStats& from) noexcept {
  to.scheduled += from.scheduled;
  to.ready += from.ready;
  to.leased += from.leased;
  to.dead += from.dead;
  to.remembered += from.remembered;
  to.groups_ready += from.groups_ready;
  to.groups_held += from.groups_held;
  if (from.oldest_ready && (!to.oldest_ready || *from.oldest_ready < *to.oldest_ready)) {
    to.oldest_ready = from.oldest_ready;
  }
}

inline void add(QueueCounters& to, const QueueCounters& from) noexcept {
  for (const auto field : kQueueCounterFields) to.*field += from.*field;
}

/// Adds the counts since `before`; if counting began again meanwhile, all counts of `now`.
inline void add_since(QueueCounters& to, const QueueCounters& now,
                      const QueueCounters& before) noexcept {
  for (const auto field : kQueueCounterFields) {
    to.*field += now.*field < before.*field ? now.*field : now.*field - before.*field;
  }
}

}  // namespace tarry::core
