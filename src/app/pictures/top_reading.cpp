#include "app/pictures/top_reading.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "app/output/printable.h"
#include "app/output/progress.h"
#include "app/output/table.h"
#include "core/settings/queue_limits.h"
#include "wire/parts/batch.h"

namespace tarry::app {
namespace {

constexpr std::string_view kBucket = "tarry_lateness_seconds_bucket{";

/// The value of a label in `labels`. Names of queues contain no characters that would be escaped.
std::optional<std::string_view> label(std::string_view labels, std::string_view name) {
  const std::string start = fmt::format("{}=\"", name);
  const auto begin = labels.find(start);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = labels.substr(begin + start.size());
  const auto end = rest.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint64_t difference(std::uint64_t now, std::uint64_t before) noexcept {
  return now > before ? now - before : 0;  // if it is less, the server's counters started again
}

std::uint64_t count_at(const LatenessBuckets& buckets, double bound) {
  const auto found = buckets.find(bound);
  return found == buckets.end() ? 0 : found->second;
}

std::uint64_t settled(const QueueCounters& counters) noexcept {
  return counters.acked + counters.retries + counters.releases + counters.buries;
}

std::string rate_text(const std::optional<double>& rate) {
  if (!rate) return "-";
  return *rate < 10 ? fmt::format("{:.1f}", *rate)
                    : grouped(static_cast<std::uint64_t>(*rate + 0.5));
}

std::string lateness_text(const std::optional<Quantile>& quantile) {
  if (!quantile) return "-";
  const bool small = quantile->ms < 1000;
  return fmt::format("{}{:g}{}",
                     quantile->above ? ">" : "<=", small ? quantile->ms : quantile->ms / 1000,
                     small ? "ms" : "s");
}

std::string held_text(const TopRow& row) {
  if (row.paused) return "paused";
  return row.limited ? "limit" : "no";
}

void write_rate(wire::JsonWriter& json, std::string_view name, const std::optional<double>& rate) {
  if (rate) json.name(name).number(*rate);
}

void write_quantile(wire::JsonWriter& json, std::string_view name,
                    const std::optional<Quantile>& quantile) {
  if (!quantile) return;
  json.name(name).begin_object();
  json.name(quantile->above ? "above_ms" : "at_most_ms").number(quantile->ms).end_object();
}

}  // namespace

std::map<std::string, LatenessBuckets, std::less<>> parse_lateness(std::string_view metrics) {
  std::map<std::string, LatenessBuckets, std::less<>> lateness;
  while (!metrics.empty()) {
    const auto end = metrics.find('\n');
    std::string_view line = metrics.substr(0, end);
    metrics.remove_prefix(end == std::string_view::npos ? metrics.size() : end + 1);
    if (!line.starts_with(kBucket)) continue;
    const auto close = line.rfind("} ");
    if (close == std::string_view::npos) continue;
    const std::string_view labels = line.substr(kBucket.size() - 1, close + 1 - kBucket.size());
    const auto queue = label(labels, "queue");
    const auto bound_text = label(labels, "le");
    const auto count = number_of<std::uint64_t>(line.substr(close + 2));
    if (!queue || !bound_text || !count) continue;
    const auto bound = *bound_text == "+Inf" ? std::numeric_limits<double>::infinity()
                                             : number_of<double>(*bound_text);
    if (bound) lateness[std::string(*queue)][*bound] = *count;
  }
  return lateness;
}

std::optional<Quantile> quantile(const LatenessBuckets& before, const LatenessBuckets& now,
                                 double share) {
  if (now.empty()) return std::nullopt;
  const double infinite = now.rbegin()->first;
  const std::uint64_t all = difference(now.rbegin()->second, count_at(before, infinite));
  if (all == 0) return std::nullopt;
  double last = 0;
  for (const auto& [bound, count] : now) {
    const auto within = static_cast<double>(difference(count, count_at(before, bound)));
    if (bound == infinite) break;
    last = bound;
    if (within >= share * static_cast<double>(all)) return Quantile{bound * 1000, false};
  }
  return Quantile{last * 1000, true};
}

std::vector<TopRow> top_rows(const TopReading* before, const TopReading& now) {
  static const LatenessBuckets kNone;
  const auto lateness_of = [](const TopReading& reading, const std::string& queue) {
    const auto found = reading.lateness.find(queue);
    return found == reading.lateness.end() ? kNone : found->second;
  };
  std::vector<TopRow> rows;
  for (const QueueStats& stats : now.queues) {
    TopRow& row = rows.emplace_back();
    row.queue = stats.queue;
    row.pending = stats.scheduled + stats.ready;
    row.due = stats.ready;
    row.leased = stats.leased;
    row.dead = stats.dead;
    row.paused = stats.paused;
    row.paused_until = stats.paused_until;
    row.limited = core::is_limited(stats);
    const LatenessBuckets old = before == nullptr ? kNone : lateness_of(*before, stats.queue);
    const LatenessBuckets late = lateness_of(now, stats.queue);
    row.p50 = quantile(old, late, 0.50);
    row.p99 = quantile(old, late, 0.99);
    if (before == nullptr) continue;
    const auto earlier = std::ranges::find(before->queues, stats.queue, &QueueStats::queue);
    const QueueCounters then =
        earlier == before->queues.end() ? QueueCounters() : earlier->counters;
    const double seconds = std::chrono::duration<double>(now.at - before->at).count();
    if (seconds <= 0) continue;
    const auto rate = [seconds](std::uint64_t a, std::uint64_t b) {
      return static_cast<double>(difference(a, b)) / seconds;
    };
    row.pushes = rate(stats.counters.accepted, then.accepted);
    row.claims = rate(stats.counters.claims, then.claims);
    row.settles = rate(settled(stats.counters), settled(then));
  }
  for (const UnreadableQueue& queue : now.unreadable) {
    TopRow& row = rows.emplace_back();
    row.queue = queue.queue;
    row.unreadable = queue.error;
  }
  return rows;
}

std::string top_table(const std::vector<TopRow>& rows, std::size_t width) {
  Table table({{"QUEUE", false, true},
               {"PENDING", true},
               {"DUE", true},
               {"LEASED", true},
               {"DEAD", true},
               {"HELD"},
               {"PUSH/S", true},
               {"CLAIM/S", true},
               {"SETTLE/S", true},
               {"LATE P50", true},
               {"LATE P99", true}},
              true);
  for (const TopRow& row : rows) {
    if (row.unreadable) {
      table.add({row.queue, "?", "?", "?", "?", "?", "-", "-", "-", "-", "-"});
      continue;
    }
    table.add({row.queue, grouped(row.pending), grouped(row.due), grouped(row.leased),
               grouped(row.dead), held_text(row), rate_text(row.pushes), rate_text(row.claims),
               rate_text(row.settles), lateness_text(row.p50), lateness_text(row.p99)});
  }
  std::string text = table.text(width);
  for (const TopRow& row : rows) {
    if (!row.unreadable) continue;
    const std::string line =
        fmt::format("{} cannot be read: {}", row.queue, printable(row.unreadable->message));
    text += (width > 0 ? clipped(line, width) : line) + "\n";
  }
  return text;
}

void write_top(wire::JsonWriter& json, const std::vector<TopRow>& rows) {
  json.begin_object().name("queues").begin_array();
  for (const TopRow& row : rows) {
    if (row.unreadable) continue;
    json.begin_object().text_field("queue", row.queue).field("pending", row.pending);
    json.field("due", row.due).field("leased", row.leased).field("dead", row.dead);
    json.field_bool("paused", row.paused);
    if (row.paused_until) json.time_field("paused_until", *row.paused_until);
    json.field_bool("limited", row.limited);
    write_rate(json, "pushes_per_second", row.pushes);
    write_rate(json, "claims_per_second", row.claims);
    write_rate(json, "settles_per_second", row.settles);
    write_quantile(json, "lateness_p50", row.p50);
    write_quantile(json, "lateness_p99", row.p99);
    json.end_object();
  }
  json.end_array();
  if (std::ranges::any_of(rows, [](const TopRow& row) { return row.unreadable.has_value(); })) {
    json.name("unreadable").begin_array();
    for (const TopRow& row : rows) {
      if (!row.unreadable) continue;
      json.begin_object().text_field("queue", row.queue);
      wire::write_error(json, *row.unreadable);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace tarry::app
