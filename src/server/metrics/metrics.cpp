#include "server/metrics/metrics.h"

#include <chrono>
#include <utility>
#include <vector>

#include "server/metrics/exposition.h"

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
    {"tarry_reschedules_total", &QueueCounters::reschedules, "Messages given another time."},
    {"tarry_replaced_total", &QueueCounters::replaced, "Messages that a push replaced."},
    {"tarry_lease_run_outs_total", &QueueCounters::run_outs,
     "Leases that ran out before the message was settled."},
    {"tarry_revives_total", &QueueCounters::revives, "Dead messages brought back."},
    {"tarry_expired_total", &QueueCounters::expired, "Dead messages that were kept long enough."},
    {"tarry_purged_total", &QueueCounters::purged, "Messages taken away by purge."},
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

void write_histogram(Exposition& out, Label label, const core::LatenessHistogram& histogram) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < core::LatenessHistogram::kBoundsSeconds.size(); ++i) {
    count += histogram.counts[i];
    const std::string bound = number_text(core::LatenessHistogram::kBoundsSeconds[i]);
    out.sample("_bucket", {label, {"le", bound}}, count);
  }
  count += histogram.counts.back();
  out.sample("_bucket", {label, {"le", "+Inf"}}, count);
  out.sample("_sum", {label}, histogram.sum_seconds);
  out.sample("_count", {label}, count);
}

struct RelayCounter {
  std::string_view name;
  std::uint64_t RelayFigures::* value;
  Kind kind;
  std::string_view help;
};

constexpr RelayCounter kRelayCounters[] = {
    {"tarry_relay_claims_total", &RelayFigures::claimed, Kind::counter,
     "Messages that the relay has claimed."},
    {"tarry_relay_confirmed_total", &RelayFigures::confirmed, Kind::counter,
     "Messages that its sink has confirmed."},
    {"tarry_relay_failed_total", &RelayFigures::failed, Kind::counter,
     "Answers of its sink that ask for another attempt."},
    {"tarry_relay_in_flight", &RelayFigures::in_flight, Kind::gauge,
     "Messages that are claimed and not settled yet."},
    {"tarry_relay_queues", &RelayFigures::queues, Kind::gauge, "Queues that the relay serves."},
    {"tarry_relay_breaker_openings_total", &RelayFigures::breaker_openings, Kind::counter,
     "Times that claiming began to rest because the sink was down."},
};

constexpr std::pair<std::string_view, std::uint64_t RelayFigures::*> kRelaySettles[] = {
    {"ack", &RelayFigures::acked},   {"retry", &RelayFigures::retried},
    {"bury", &RelayFigures::buried}, {"release", &RelayFigures::released},
    {"stale", &RelayFigures::stale},
};

void write_relays(Exposition& out, std::span<const RelayFigures> relays) {
  if (relays.empty()) return;
  for (const RelayCounter& counter : kRelayCounters) {
    out.family(counter.name, counter.kind, counter.help);
    for (const RelayFigures& relay : relays) {
      out.sample({{"relay", relay.name}}, relay.*counter.value);
    }
  }
  out.family("tarry_relay_up", Kind::gauge, "0 once the relay has ended by an error.");
  for (const RelayFigures& relay : relays) {
    out.sample({{"relay", relay.name}}, std::uint64_t{relay.up ? 1u : 0u});
  }
  out.family(
      "tarry_relay_settles_total", Kind::counter,
      "The relay's claims ended, by how; stale: too late, the lease had run out, or the store "
      "refused.");
  for (const RelayFigures& relay : relays) {
    for (const auto& [outcome, value] : kRelaySettles) {
      out.sample({{"relay", relay.name}, {"outcome", outcome}}, relay.*value);
    }
  }
  out.family("tarry_relay_breaker_open", Kind::gauge,
             "1 while claiming rests because the sink is down.");
  for (const RelayFigures& relay : relays) {
    out.sample({{"relay", relay.name}}, std::uint64_t{relay.breaker_open ? 1u : 0u});
  }
  out.family("tarry_relay_lag_seconds", Kind::histogram,
             "From due time to the sink's confirmation.");
  for (const RelayFigures& relay : relays) {
    write_histogram(out, {"relay", relay.name}, relay.lag);
  }
}

void write_queues(Exposition& out, const std::vector<QueueStats>& queues, Time now) {
  out.family("tarry_messages", Kind::gauge, "Messages by state.");
  for (const QueueStats& queue : queues) {
    for (const QueueGauge& state : kStates) {
      out.sample({{"queue", queue.queue}, {"state", state.state}}, queue.*state.value);
    }
  }
  out.family("tarry_oldest_due_age_seconds", Kind::gauge,
             "Since when the oldest due message has waited to be claimed; 0 where none waits.");
  for (const QueueStats& queue : queues) {
    out.sample({{"queue", queue.queue}}, seconds_since(queue.oldest_ready, now));
  }
  out.family("tarry_waiting_claims", Kind::gauge, "Claims that wait for something to fall due.");
  for (const QueueStats& queue : queues) {
    out.sample({{"queue", queue.queue}}, queue.waiting_claims);
  }
  out.family("tarry_queue_paused", Kind::gauge, "1 while the queue is paused.");
  for (const QueueStats& queue : queues) {
    out.sample({{"queue", queue.queue}}, std::uint64_t{queue.paused ? 1u : 0u});
  }
  for (const QueueCounter& counter : kQueueCounters) {
    out.family(counter.name, Kind::counter, counter.help);
    for (const QueueStats& queue : queues) {
      out.sample({{"queue", queue.queue}}, queue.counters.*counter.value);
    }
  }
  out.family("tarry_settles_total", Kind::counter, "Claims ended, by how.");
  for (const QueueStats& queue : queues) {
    for (const Settled& settled : kSettles) {
      out.sample({{"queue", queue.queue}, {"outcome", settled.outcome}},
                 queue.counters.*settled.value);
    }
  }
}

void write_lateness(Exposition& out, const LatenessMeter& meter) {
  out.family("tarry_lateness_seconds", Kind::histogram,
             "From due time to claim, of first attempts claimed in this process.");
  for (const auto& [queue, histogram] : meter.lateness()) {
    write_histogram(out, {"queue", queue}, histogram);
  }
}

void write_store(Exposition& out, const StoreStats& stats) {
  out.family("tarry_queues", Kind::gauge, "Queues of the store.");
  out.sample({}, std::uint64_t{stats.queues.size() + stats.unreadable.size()});
  out.family("tarry_queues_unreadable", Kind::gauge,
             "Of these, queues whose figures the store cannot tell; tarry stats names them.");
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
  out.family("tarry_journal_disk_bytes", Kind::gauge, "Disk that the journal takes.");
  out.sample({}, stats.disk_bytes);
  out.family("tarry_journal_live_bytes", Kind::gauge, "Of that, what is still needed.");
  out.sample({}, stats.live_bytes);
  out.family("tarry_journal_syncs_total", Kind::counter,
             "Times that the journal was synced since the store was opened.");
  out.sample({}, stats.syncs);
}

void write_server(Exposition& out, const Meter& meter) {
  out.family("tarry_http_requests_total", Kind::counter, "Requests answered, by route and status.");
  for (const auto& [answer, count] : meter.answers()) {
    const std::string code = std::to_string(answer.second);
    out.sample({{"route", answer.first}, {"code", code}}, count);
  }
  out.family("tarry_http_connections", Kind::gauge, "Connections that are open.");
  out.sample({}, meter.connections());
  out.family("tarry_http_held_bytes", Kind::gauge,
             "Memory for requests that come in and answers that go out.");
  out.sample({{"held", "requests"}}, meter.held_requests());
  out.sample({{"held", "answers"}}, meter.held_answers());
}

}  // namespace

std::string metrics_text(const StoreStats& stats, Meter& meter, Time now, std::string_view version,
                         std::span<const RelayFigures> relays) {
  Exposition out;
  out.family("tarry_build_info", Kind::gauge, "1; the labels say what runs.");
  out.sample({{"version", version}, {"engine", stats.engine}}, std::uint64_t{1});
  write_store(out, stats);
  write_queues(out, meter.metered(stats.queues), now);
  write_lateness(out, meter.lateness());
  write_relays(out, relays);
  write_server(out, meter);
  return std::move(out).take();
}

}  // namespace tarry::metrics
