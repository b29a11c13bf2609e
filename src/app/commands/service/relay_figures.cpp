#include "app/commands/service/relay_figures.h"

#include <utility>

namespace tarry::app {

PatternsOfRelays patterns_of(const std::vector<RelayPlan>& plans) {
  PatternsOfRelays patterns;
  for (const RelayPlan& plan : plans) patterns[plan.options.name] = plan.options.relay.queues;
  return patterns;
}

std::vector<metrics::RelayFigures> figures_of(const Relays& relays,
                                              const PatternsOfRelays& patterns) {
  std::vector<metrics::RelayFigures> all;
  for (auto& [name, stats, up] : relays.stats()) {
    metrics::RelayFigures& one = all.emplace_back();
    one.name = std::move(name);
    one.up = up;
    one.claimed = stats.claimed;
    one.confirmed = stats.confirmed;
    one.failed = stats.failed;
    one.acked = stats.acked;
    one.retried = stats.retried;
    one.buried = stats.buried;
    one.released = stats.released;
    one.stale = stats.stale;
    one.in_flight = stats.in_flight;
    one.queues = stats.queues;
    one.breaker_openings = stats.openings;
    one.breaker_open = stats.breaker != relay::BreakerState::closed;
    one.lag = stats.lags;
    if (const auto found = patterns.find(one.name); found != patterns.end()) {
      one.patterns = found->second;
    }
  }
  return all;
}

}  // namespace tarry::app
