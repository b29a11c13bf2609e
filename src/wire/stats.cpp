#include "wire/stats.h"

#include <array>
#include <utility>

#include "wire/parts/batch.h"
#include "wire/queue.h"

namespace tarry::wire {
namespace {

template <typename Of>
struct Figure {
  std::string_view name;
  std::uint64_t Of::* member;
};
using Counter = Figure<QueueCounters>;
using Gauge = Figure<QueueStats>;
using ObjectiveCount = Figure<ObjectiveStats>;

constexpr std::array kCounters = {
    Counter{"accepted", &QueueCounters::accepted},
    Counter{"acked", &QueueCounters::acked},
    Counter{"cancelled", &QueueCounters::cancelled},
    Counter{"replaced", &QueueCounters::replaced},
    Counter{"expired", &QueueCounters::expired},
    Counter{"purged", &QueueCounters::purged},
    Counter{"moved_away", &QueueCounters::moved_away},
    Counter{"claims", &QueueCounters::claims},
    Counter{"retries", &QueueCounters::retries},
    Counter{"releases", &QueueCounters::releases},
    Counter{"run_outs", &QueueCounters::run_outs},
    Counter{"buries", &QueueCounters::buries},
    Counter{"revives", &QueueCounters::revives},
    Counter{"reschedules", &QueueCounters::reschedules},
    Counter{"damaged", &QueueCounters::damaged},
};
static_assert(sizeof(QueueCounters) == kCounters.size() * sizeof(std::uint64_t),
              "a counter is missing here");

constexpr std::array kGauges = {
    Gauge{"scheduled", &QueueStats::scheduled},
    Gauge{"ready", &QueueStats::ready},
    Gauge{"leased", &QueueStats::leased},
    Gauge{"dead", &QueueStats::dead},
    Gauge{"remembered", &QueueStats::remembered},
    Gauge{"waiting_claims", &QueueStats::waiting_claims},
};

constexpr std::array kObjectiveCounts = {
    ObjectiveCount{"claims", &ObjectiveStats::claims},
    ObjectiveCount{"late", &ObjectiveStats::late},
    ObjectiveCount{"late_engine", &ObjectiveStats::late_engine},
    ObjectiveCount{"late_unclaimed", &ObjectiveStats::late_unclaimed},
    ObjectiveCount{"late_paused", &ObjectiveStats::late_paused},
    ObjectiveCount{"late_limited", &ObjectiveStats::late_limited},
};

void write_queue_list(JsonWriter& out, const StoreStats& stats) {
  out.name("queues").begin_array();
  for (const QueueStats& queue : stats.queues) write_queue_stats(out, queue);
  out.end_array();
  if (stats.unreadable.empty()) return;
  out.name("unreadable").begin_array();
  for (const UnreadableQueue& queue : stats.unreadable) {
    out.begin_object().text_field("queue", queue.queue);
    write_error(out, queue.error);
    out.end_object();
  }
  out.end_array();
}

MaybeError read_unreadable(const boost::json::value& value, UnreadableQueue& queue) {
  Fields fields(value, "an unreadable queue", Unknown::ignored);
  fields.require("queue");
  queue.queue = fields.text("queue").value_or("");
  if (auto error = read_error(fields)) queue.error = std::move(*error);
  return fields.finish();
}

MaybeError read_queue(const boost::json::value& value, QueueStats& stats) {
  Fields fields(value, "a queue", Unknown::ignored);
  fields.require("queue");
  stats.queue = fields.text("queue").value_or("");
  for (const Gauge& gauge : kGauges) stats.*gauge.member = fields.u64(gauge.name).value_or(0);
  stats.paused = fields.boolean("paused").value_or(false);
  stats.paused_until = fields.time("paused_until_ms");
  stats.oldest_ready = fields.time("oldest_ready_ms");
  stats.rate_next = fields.time("rate_next_ms");
  stats.groups_ready = fields.u64("groups_ready").value_or(0);
  stats.groups_held = fields.u64("groups_held").value_or(0);
  if (const boost::json::value* settings = fields.any("settings")) {
    Fields inner(*settings, "\"settings\"", Unknown::ignored);
    stats.settings = read_settings(inner);
    if (MaybeError error = inner.finish()) return error;
  }
  if (const boost::json::value* counters = fields.any("counters")) {
    Fields inner(*counters, "\"counters\"", Unknown::ignored);
    for (const Counter& counter : kCounters) {
      stats.counters.*counter.member = inner.u64(counter.name).value_or(0);
    }
    if (MaybeError error = inner.finish()) return error;
  }
  if (const boost::json::value* objective = fields.any("objective")) {
    Fields inner(*objective, "\"objective\"", Unknown::ignored);
    ObjectiveStats& kept = stats.objective.emplace();
    kept.burning = inner.boolean("burning").value_or(false);
    kept.overdue = inner.boolean("overdue").value_or(false);
    for (const ObjectiveCount& count : kObjectiveCounts) {
      kept.*count.member = inner.u64(count.name).value_or(0);
    }
    if (MaybeError error = inner.finish()) return error;
  }
  return fields.finish();
}

}  // namespace

void write_queue_stats(JsonWriter& out, const QueueStats& stats) {
  out.begin_object().text_field("queue", stats.queue);
  out.name("settings").begin_object();
  write_settings(out, stats.settings);
  out.end_object();
  for (const Gauge& gauge : kGauges) out.field(gauge.name, stats.*gauge.member);
  out.field_bool("paused", stats.paused);
  if (stats.paused_until) out.time_field("paused_until", *stats.paused_until);
  if (stats.oldest_ready) out.time_field("oldest_ready", *stats.oldest_ready);
  if (stats.rate_next) out.time_field("rate_next", *stats.rate_next);
  if (stats.groups_ready != 0) out.field("groups_ready", stats.groups_ready);
  if (stats.groups_held != 0) out.field("groups_held", stats.groups_held);
  out.name("counters").begin_object();
  for (const Counter& counter : kCounters) {
    out.field(counter.name, stats.counters.*counter.member);
  }
  out.end_object();
  if (const auto& kept = stats.objective) {
    out.name("objective").begin_object().field_bool("burning", kept->burning);
    out.field_bool("overdue", kept->overdue);
    for (const ObjectiveCount& count : kObjectiveCounts) {
      out.field(count.name, (*kept).*count.member);
    }
    out.end_object();
  }
  out.end_object();
}

std::string encode_queue_stats(const QueueStats& stats) {
  std::string text;
  JsonWriter out(text);
  write_queue_stats(out, stats);
  return text;
}

std::string encode_queues(const StoreStats& stats) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_queue_list(out, stats);
  out.end_object();
  return text;
}

std::string encode_store_stats(const StoreStats& stats) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().text_field("engine", stats.engine);
  if (!stats.served.empty()) out.text_field("served", stats.served);
  out.field_bool("durable", stats.durable);
  write_queue_list(out, stats);
  out.name("lateness").begin_object().field("count", stats.lateness.count);
  out.name("p50_ms").number(stats.lateness.p50).name("p99_ms").number(stats.lateness.p99);
  out.name("p999_ms").number(stats.lateness.p999).name("max_ms").number(stats.lateness.max);
  out.end_object();
  out.field("disk_bytes", stats.disk_bytes).field("live_bytes", stats.live_bytes);
  out.field("syncs", stats.syncs);
  out.field("round_trips", stats.round_trips).field("connections", stats.connections);
  out.end_object();
  return text;
}

Result<StoreStats> decode_store_stats(std::string_view body) {
  Document document(body.size(), kAnswerLimits);
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the answer", Unknown::ignored);
  StoreStats stats;
  fields.require("engine");
  fields.require("queues");
  stats.engine = fields.text("engine").value_or("");
  stats.served = fields.text("served").value_or("");
  stats.durable = fields.boolean("durable").value_or(true);  // an older server does not send it
  const boost::json::array* queues = fields.array("queues");
  const boost::json::array* unreadable = fields.array("unreadable");
  if (const boost::json::value* lateness = fields.any("lateness")) {
    Fields inner(*lateness, "\"lateness\"", Unknown::ignored);
    stats.lateness.count = inner.u64("count").value_or(0);
    stats.lateness.p50 = inner.real("p50_ms").value_or(0);
    stats.lateness.p99 = inner.real("p99_ms").value_or(0);
    stats.lateness.p999 = inner.real("p999_ms").value_or(0);
    stats.lateness.max = inner.real("max_ms").value_or(0);
    if (MaybeError error = inner.finish()) return *error;
  }
  stats.disk_bytes = fields.u64("disk_bytes").value_or(0);
  stats.live_bytes = fields.u64("live_bytes").value_or(0);
  stats.syncs = fields.u64("syncs").value_or(0);
  stats.round_trips = fields.u64("round_trips").value_or(0);
  stats.connections = fields.u64("connections").value_or(0);
  if (MaybeError error = fields.finish()) return *error;
  for (const boost::json::value& value : *queues) {
    stats.queues.emplace_back();
    if (MaybeError error = read_queue(value, stats.queues.back())) return *error;
  }
  for (std::size_t i = 0; unreadable != nullptr && i < unreadable->size(); ++i) {
    UnreadableQueue& queue = stats.unreadable.emplace_back();
    if (MaybeError error = read_unreadable((*unreadable)[i], queue)) return *error;
  }
  return stats;
}

}  // namespace tarry::wire
