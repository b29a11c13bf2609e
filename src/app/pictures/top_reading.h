// The readings of a store by `tarry top`, and the rows that it makes from two of them.
//
// Plain values and pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/settings.h>

#include "wire/json/json_writer.h"

namespace tarry::app {

/// A queue's lateness as a server's /metrics shows it: for each upper bound in seconds, how many
/// claims were at most that late. The last bound is infinite.
using LatenessBuckets = std::map<double, std::uint64_t>;

struct TopReading {
  std::chrono::steady_clock::time_point at{};
  std::vector<QueueStats> queues;
  std::vector<UnreadableQueue> unreadable;
  std::map<std::string, LatenessBuckets, std::less<>> lateness;  // empty: not known
};

/// Reads `tarry_lateness_seconds`; lines that are not its buckets are skipped.
[[nodiscard]] std::map<std::string, LatenessBuckets, std::less<>> parse_lateness(
    std::string_view metrics);

/// A percentile of lateness: `ms`; or, if `above` is true, more than `ms`.
struct Quantile {
  double ms = 0;
  bool above = false;
};
/// The percentile over the claims that were counted between `before` and `now`. Empty if there are
/// none.
[[nodiscard]] std::optional<Quantile> quantile(const LatenessBuckets& before,
                                               const LatenessBuckets& now, double share);

struct TopRow {
  std::string queue;
  std::uint64_t pending = 0;  // scheduled and due
  std::uint64_t due = 0;
  std::uint64_t leased = 0;
  std::uint64_t dead = 0;
  bool paused = false;
  std::optional<Time> paused_until = {};
  bool limited = false;                  // a claim gets nothing now because of a limit of the queue
  std::optional<Error> unreadable = {};  // if set, only the name is known
  // Rates per second; empty if there is no earlier reading.
  std::optional<double> pushes;
  std::optional<double> claims;
  std::optional<double> settles;
  std::optional<Quantile> p50;
  std::optional<Quantile> p99;
};

/// One row for each queue of `now`, unreadable ones last. If `before` is null, the rows have no
/// rates, and their lateness counts from the server's start.
[[nodiscard]] std::vector<TopRow> top_rows(const TopReading* before, const TopReading& now);

[[nodiscard]] std::string top_table(const std::vector<TopRow>& rows, std::size_t width);
void write_top(wire::JsonWriter& json, const std::vector<TopRow>& rows);

}  // namespace tarry::app
