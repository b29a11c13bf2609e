// Metrics: figures of a store for a program without a server. `text` has the figures of /metrics,
// for Prometheus; `lateness` says as numbers how late messages were claimed.
//
//   tarry::Metrics metrics(*store);                // once, before the first claim
//   auto text = metrics.text();                    // in the handler of your GET /metrics
//   for (const auto& [queue, lateness] : metrics.lateness()) { ... }
//
// For the numbers of messages in each state, and for counters, see Store::stats.
//
// Thread safe.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <tarry/result.h>
#include <tarry/store.h>

namespace tarry {

/// How late messages were claimed: claim time minus due time.
struct LatenessHistogram {
  /// The buckets' upper bounds, in seconds.
  static constexpr std::array<double, 16> kBoundsSeconds = {
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};

  /// A bucket counts the claims that were later than the previous bound, and at most as late as its
  /// own. The last bucket counts the claims above all bounds.
  std::array<std::uint64_t, kBoundsSeconds.size() + 1> counts{};
  double sum_seconds = 0;

  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t each : counts) all += each;
    return all;
  }
};

/// Figures of a store for a program without a server. Any thread may call any member, even while
/// other threads claim.
class Metrics {
 public:
  /// Counts lateness from now on. Only first attempts count, claimed through this store or its
  /// copies, by workers too. This costs each claim a mutex and a lookup by the queue's name; a
  /// store without Metrics pays nothing. The Metrics may outlive the store.
  explicit Metrics(const Store& store);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// Lateness by the queue's name. The first 1,000 queues are counted separately, all others
  /// together under "*".
  using Lateness = std::map<std::string, LatenessHistogram, std::less<>>;
  [[nodiscard]] Lateness lateness() const;

  /// The figures that a server's /metrics shows about its store, in Prometheus's text format 0.0.4
  /// (`text/plain; version=0.0.4; charset=utf-8`). Each call asks the store for its figures once.
  /// It also forgets the lateness of queues that no longer exist. Errors: those of Store::stats.
  [[nodiscard]] Result<std::string> text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry
