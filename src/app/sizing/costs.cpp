#include "app/sizing/costs.h"

#include <array>
#include <utility>

namespace tarry::app::sizing {
namespace {

// docs/performance.md: F1 (1.4M lives a second on two cores), F6 (63 B with a user's key), F7 (1.7
// bytes on disk for a live one), F8 (4.2M messages a second after SIGKILL), F9 (0.41 ms more than a
// bare timer, which is 0.24 ms late). In its life, a message is written once as a whole, and twice
// as a reference. There is no network between the program and its store.
constexpr Costs kFile = {{1.4, 0.001},
                         0,
                         0,
                         {63, 0},
                         {1.7 * 60, 1.7},
                         {120, 1},
                         {},
                         {},
                         4.2e6,
                         0.65,
                         "docs/performance.md: F1, F6, F7, F8, F9"};

// Medians of bench/sizing.py on 2026-11-27, with Redis 7.0 of Debian 12 and its append-only file
// (everysec). Batches of 10, 100 and 1000 show the server's time: on a cluster 15.5 us a message
// and 140 us a call, on one server behind a unix socket 12 and 65 us. A restart loads 50 MB of RAM
// a second; that is the slowest value seen. kRoundTripMs is the time between a claim's wake-up and
// its message on a local network. It is assumed, not measured.
constexpr double kRoundTripMs = 0.2;
constexpr std::string_view kMeasured = "bench/sizing.py of 2026-11-27; docs/guide/sizing.md";
constexpr Costs kRedis = {{12, 0.008}, 65,        8.5,  {158, 1.08},  {155, 1.01}, {155, 1.01},
                          {200, 1.0},  {30, 1.0}, 50e6, kRoundTripMs, kMeasured};
constexpr Costs kCluster = {{15.5, 0.008}, 140,       8.5,  {158, 1.08},  {155, 1.01}, {155, 1.01},
                            {230, 1.0},    {30, 1.0}, 50e6, kRoundTripMs, kMeasured};

constexpr std::array kNames = {std::pair{Engine::file, std::string_view("file")},
                               std::pair{Engine::redis, std::string_view("redis")},
                               std::pair{Engine::redis_cluster, std::string_view("redis-cluster")}};

}  // namespace

const Costs& costs_of(Engine engine) noexcept {
  switch (engine) {
    case Engine::file: return kFile;
    case Engine::redis: return kRedis;
    case Engine::redis_cluster: break;
  }
  return kCluster;
}

std::optional<Engine> engine_named(std::string_view name) noexcept {
  for (const auto& [engine, text] : kNames) {
    if (text == name) return engine;
  }
  return std::nullopt;
}

std::string_view name_of(Engine engine) noexcept {
  for (const auto& [each, text] : kNames) {
    if (each == engine) return text;
  }
  return {};
}

}  // namespace tarry::app::sizing
