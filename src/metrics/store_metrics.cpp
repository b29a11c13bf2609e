#include "metrics/store_metrics.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tarry::metrics {
namespace {

double seconds_since(const std::optional<Time>& then, Time now) {
  if (!then || *then > now) return 0;
  return std::chrono::duration<double>(now - *then).count();
}

struct QueueCounter {
  std::string_view name;
  std::uint64_t QueueCounters::* value;
  std::string_view help;
};

constexpr QueueCounter kQueueCounters[] = {
    {"tarry_pushes_total", &QueueCounters::accepted, "Messages accepted."},
    {"tarry_claims_total", &QueueCounters::claims, "Messages claimed."},
    {"tarry_cancels_total", &QueueCounters::cancelled, "Messages cancelled."},
    {"tarry_reschedules_total", &QueueCounters::reschedules, "Messages given another due time."},
    {"tarry_replaced_total", &QueueCounters::replaced, "Messages that a push replaced."},
    {"tarry_lease_run_outs_total", &QueueCounters::run_outs,
     "Leases that ran out before the message was settled."},
    {"tarry_revives_total", &QueueCounters::revives, "Dead messages brought back."},
    {"tarry_expired_total", &QueueCounters::expired,
     "Messages that ended at their expiry, or dead after dead_keep."},
    {"tarry_purged_total", &QueueCounters::purged, "Messages removed by purge."},
    {"tarry_moved_away_total", &QueueCounters::moved_away, "Messages moved to another store."},
    {"tarry_damaged_total", &QueueCounters::damaged, "Messages set aside as damaged."},
};

struct QueueGauge {
  std::string_view state;
  std::uint64_t QueueStats::* value;
};

constexpr QueueGauge kStates[] = {
    {"scheduled", &QueueStats::scheduled},   {"ready", &QueueStats::ready},
    {"leased", &QueueStats::leased},         {"dead", &QueueStats::dead},
    {"remembered", &QueueStats::remembered},
};

struct Settled {
  std::string_view outcome;
  std::uint64_t QueueCounters::* value;
};

constexpr Settled kSettles[] = {
    {"ack", &QueueCounters::acked},
    {"retry", &QueueCounters::retries},
    {"release", &QueueCounters::releases},
    {"bury", &QueueCounters::buries},
};

bool counts_scheduled(const StoreStats& stats) {
  return (stats.served.empty() ? stats.engine : stats.served) != "rabbitmq";
}

void write_queues(Exposition& out, const std::vector<QueueStats>& queues, bool scheduled,
                  Time now) {
  out.family("tarry_messages", Kind::gauge, "Messages by state.");
  for (const QueueStats& queue : queues) {
    for (const QueueGauge& state : kStates) {
      if (state.value == &QueueStats::scheduled && !scheduled) continue;
      out.sample({{"queue", queue.queue}, {"state", state.state}}, queue.*state.value);
    }
  }
  out.family("tarry_oldest_due_age_seconds", Kind::gauge,
             "How long the oldest due message has been waiting for a claim; 0 if there is none.");
  for (const QueueStats& queue : queues) {
    out.sample({{"queue", queue.queue}}, seconds_since(queue.oldest_ready, now));
  }
  out.family("tarry_waiting_claims", Kind::gauge, "Claims that wait for a message to fall due.");
  for (const QueueStats& queue : queues) {
    out.sample({{"queue", queue.queue}}, queue.waiting_claims);
  }
  out.family("tarry_queue_paused", Kind::gauge, "1 while the queue is paused.");
  for (const QueueStats& queue : queues) {
    out.sample({{"queue", queue.queue}}, std::uint64_t{queue.paused ? 1u : 0u});
  }
  out.family("tarry_max_leased", Kind::gauge,
             "How many messages may be leased at once, of queues with such a limit.");
  for (const QueueStats& queue : queues) {
    if (queue.settings.max_leased == 0) continue;
    out.sample({{"queue", queue.queue}}, std::uint64_t{queue.settings.max_leased});
  }
  out.family("tarry_groups_ready", Kind::gauge,
             "Groups with ready messages, of queues with groups.");
  for (const QueueStats& queue : queues) {
    if (queue.settings.group.by == Grouping::By::none && queue.groups_ready == 0) continue;
    out.sample({{"queue", queue.queue}}, queue.groups_ready);
  }
  for (const QueueCounter& counter : kQueueCounters) {
    out.family(counter.name, Kind::counter, counter.help);
    for (const QueueStats& queue : queues) {
      out.sample({{"queue", queue.queue}}, queue.counters.*counter.value);
    }
  }
  out.family("tarry_settles_total", Kind::counter, "Claims ended, by outcome.");
  for (const QueueStats& queue : queues) {
    for (const Settled& settled : kSettles) {
      out.sample({{"queue", queue.queue}, {"outcome", settled.outcome}},
                 queue.counters.*settled.value);
    }
  }
}

void write_lateness(Exposition& out, const LatenessMeter& meter, const Shown& shown) {
  out.family("tarry_lateness_seconds", Kind::histogram,
             "From due time to claim, of first attempts claimed in this process.");
  for (const auto& [queue, histogram] : meter.lateness()) {
    if (!shown || shown(queue)) write_histogram(out, {"queue", queue}, histogram);
  }
}

void write_objectives(Exposition& out, const LatenessMeter& meter, const Shown& shown) {
  auto objectives = meter.objectives();
  std::erase_if(objectives, [&](const auto& one) { return shown && !shown(one.first); });
  out.family("tarry_objective_burning", Kind::gauge,
             "1 if the queue does not keep its lateness objective.");
  for (const auto& [queue, objective] : objectives) {
    out.sample({{"queue", queue}}, std::uint64_t{objective.burning ? 1u : 0u});
  }
  out.family("tarry_objective_claims_total", Kind::counter,
             "First attempts claimed in this process, of queues with an objective.");
  for (const auto& [queue, objective] : objectives) {
    out.sample({{"queue", queue}}, objective.counts.claims);
  }
  out.family("tarry_objective_late_total", Kind::counter,
             "Of these, those later than the objective allows, by cause.");
  for (const auto& [queue, objective] : objectives) {
    const auto& late = objective.counts;
    out.sample({{"queue", queue}, {"cause", "engine"}}, late.engine);
    out.sample({{"queue", queue}, {"cause", "unclaimed"}}, late.unclaimed);
    out.sample({{"queue", queue}, {"cause", "paused"}}, late.paused);
    out.sample({{"queue", queue}, {"cause", "limited"}}, late.limited);
  }
}

// A bound is a label, and so a text: 0.0001, not 1e-04.
std::string bound_text(double bound) {
  std::array<char, 32> digits{};
  const char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), bound, std::chars_format::fixed)
          .ptr;
  return {digits.data(), static_cast<std::size_t>(end - digits.data())};
}

// Any histogram whose buckets are counted each on its own.
template <std::size_t Bounds>
void write_buckets(Exposition& out, Label label, const std::array<double, Bounds>& bounds,
                   const std::array<std::uint64_t, Bounds + 1>& counts, double sum_seconds) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < Bounds; ++i) {
    count += counts[i];
    out.sample("_bucket", {label, {"le", bound_text(bounds[i])}}, count);
  }
  count += counts.back();
  out.sample("_bucket", {label, {"le", "+Inf"}}, count);
  out.sample("_sum", {label}, sum_seconds);
  out.sample("_count", {label}, count);
}

void write_commits(Exposition& out, const CommitTimes& times) {
  out.family("tarry_commit_seconds", Kind::histogram, "How long each step of a commit took.");
  const auto write = [&](std::string_view step, const CommitTimes::Step& took) {
    write_buckets(out, {"step", step}, CommitTimes::kBoundsSeconds, took.counts, took.sum_seconds);
  };
  write("gather", times.gather);
  write("sync", times.sync);
  write("answer", times.answer);
}

void write_store(Exposition& out, const StoreStats& stats) {
  out.family("tarry_queues", Kind::gauge, "Queues of the store.");
  out.sample({}, std::uint64_t{stats.queues.size() + stats.unreadable.size()});
  out.family("tarry_queues_unreadable", Kind::gauge,
             "Of these, queues that cannot be read; tarry stats names them.");
  out.sample({}, std::uint64_t{stats.unreadable.size()});
  if (stats.engine.starts_with("redis")) {
    out.family("tarry_redis_round_trips_total", Kind::counter,
               "Calls to Redis since the store was opened; a script is one.");
    out.sample({}, stats.round_trips);
    out.family("tarry_redis_connections_total", Kind::counter,
               "Connections to Redis that were made for them.");
    out.sample({}, stats.connections);
  }
  if (stats.engine != "embedded") return;
  out.family("tarry_journal_disk_bytes", Kind::gauge, "Disk space of the journal.");
  out.sample({}, stats.disk_bytes);
  out.family("tarry_journal_live_bytes", Kind::gauge, "Of that, space that is still needed.");
  out.sample({}, stats.live_bytes);
  out.family("tarry_journal_syncs_total", Kind::counter,
             "Syncs of the journal since the store was opened.");
  out.sample({}, stats.syncs);
  if (stats.commit_times) write_commits(out, *stats.commit_times);
}

}  // namespace

void write_histogram(Exposition& out, Label label, const core::LatenessHistogram& histogram) {
  write_buckets(out, label, core::LatenessHistogram::kBoundsSeconds, histogram.counts,
                histogram.sum_seconds);
}

void write_store_metrics(Exposition& out, const StoreStats& stats, StoreMeter& meter,
                         std::uint64_t replies, Time now, std::string_view version,
                         const Shown& shown) {
  out.family("tarry_build_info", Kind::gauge, "1; the labels say what runs.");
  out.sample({{"version", version}, {"engine", stats.engine}}, std::uint64_t{1});
  if (!shown) write_store(out, stats);
  for (const QueueStats& queue : stats.queues) meter.lateness().observe(queue, now);
  std::vector<QueueStats> queues = meter.metered(stats.queues, replies);
  std::erase_if(queues, [&](const QueueStats& queue) { return shown && !shown(queue.queue); });
  write_queues(out, queues, counts_scheduled(stats), now);
  write_lateness(out, meter.lateness(), shown);
  write_objectives(out, meter.lateness(), shown);
}

}  // namespace tarry::metrics
