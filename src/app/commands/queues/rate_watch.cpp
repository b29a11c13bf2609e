#include "app/commands/queues/rate_watch.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/pictures/queue_flow.h"
#include "base/text/text.h"
#include "core/engine.h"
#include "core/figures/rate.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;
using WatchClock = std::chrono::steady_clock;

constexpr std::string_view kLately = "lately";
constexpr Millis kWatch = 5s;
constexpr Millis kShortestWatch = 100ms;

bool is_lately(const std::optional<std::string>& word) { return word && *word == kLately; }

struct TimedLook {
  FlowLook look;
  bool paused = false;
  WatchClock::time_point at;
};

// `horizon`: until when messages count as pending.
Result<TimedLook> look_at(const Queue& queue, Millis horizon) {
  const auto stats = queue.stats();
  if (!stats) return stats.error();
  const auto found = queue.forecast({.width = horizon, .buckets = 1});
  if (!found) return found.error();
  return TimedLook{{stats->counters.claims, found->due_now + found->buckets.front()},
                   stats->paused,
                   WatchClock::now()};
}

struct Watched {
  Flow flow;
  bool paused = false;
};

Result<Watched> watch_rates(const Queue& queue, Millis span) {
  const auto first = look_at(queue, kSoon);
  if (!first) return first.error();
  std::this_thread::sleep_until(first->at + span);
  // The same moment is now less far away.
  const auto passed = std::chrono::floor<Millis>(WatchClock::now() - first->at);
  const auto second = look_at(queue, std::max<Millis>(kSoon - passed, 1ms));
  if (!second) return second.error();
  const auto elapsed = std::chrono::ceil<Millis>(second->at - first->at);
  return Watched{flow_between(first->look, second->look, elapsed), second->paused};
}

// Why the queue's own rates cannot be seen; empty: they can.
std::string_view blindness(const Queue& queue) {
  const core::Capabilities able = queue.engine().capabilities();
  if (!able.counts) return "this store does not count claims";
  if (able.manual_clock) return "this store's clock is moved by hand";
  return {};
}

}  // namespace

void add_rates(CLI::App& command, RateWords& into) {
  add_word(command, "--rate", into.rate,
           "Claims a second of all consumers, 0.001 to 10000000; lately: as seen now");
  add_word(command, "--arrivals", into.arrivals,
           "New messages a second that are due at once, none, or lately (default)");
  add_duration(command, "--watch", into.watch,
               "How long to watch the queue for lately: 100ms to 1m (default: 5s)");
}

core::MaybeError check_rates(const RateWords& words) {
  const auto wrong = [](std::string text) {
    return Error{ErrorCode::invalid_argument, std::move(text)};
  };
  if (!words.rate) {
    if (words.arrivals) return wrong("--arrivals needs --rate");
    if (words.watch) return wrong("--watch needs --rate");
    return {};
  }
  if (!is_lately(words.rate)) {
    const auto rate = core::parse_rate("--rate", *words.rate);
    if (!rate) return wrong(rate.error().message + ", or \"lately\"");
  }
  if (words.arrivals && !is_lately(words.arrivals)) {
    const auto arrivals = core::parse_arrivals("--arrivals", *words.arrivals);
    if (!arrivals) return wrong(arrivals.error().message + ", or \"lately\"");
  }
  if (words.watch && (*words.watch < kShortestWatch || *words.watch > kSoon)) {
    return wrong(fmt::format("--watch {} is not from 100ms to 1m",
                             base::format_duration_ms(words.watch->count())));
  }
  return {};
}

Result<Rates> rates_of(const Queue& queue, const RateWords& words, Output& output) {
  Rates rates;
  const bool watches_claims = is_lately(words.rate);
  bool watches_arrivals = !words.arrivals || is_lately(words.arrivals);
  if (!watches_claims) rates.claims = *core::parse_rate("--rate", *words.rate);
  if (!watches_arrivals) rates.arrivals = *core::parse_arrivals("--arrivals", *words.arrivals);
  const std::string_view blind = blindness(queue);
  if (!blind.empty() && (watches_claims || is_lately(words.arrivals))) {
    return Unexpected(ErrorCode::unsupported,
                      fmt::format("{}: give numbers for --rate and --arrivals", blind));
  }
  if (!blind.empty() && watches_arrivals) {
    output.note(fmt::format("no arrivals are foreseen, since {}: give --arrivals N", blind));
    watches_arrivals = false;
  }
  if (!watches_claims && !watches_arrivals) return rates;
  const Millis span = words.watch.value_or(kWatch);
  output.note(fmt::format("watching {} for {} ...", base::quoted(queue.name()),
                          base::format_duration_ms(span.count())));
  const auto seen = watch_rates(queue, span);
  if (!seen) return seen.error();
  if (watches_arrivals) rates.arrivals = seen->flow.arrived;
  if (!watches_claims) return rates;
  rates.claims = seen->flow.claimed;
  if (rates.claims == 0) {
    return Unexpected(
        ErrorCode::invalid_argument,
        fmt::format("nothing was claimed from {} within {}{}: give --rate N",
                    base::quoted(queue.name()), base::format_duration_ms(span.count()),
                    seen->paused ? ", it is paused" : ""));
  }
  return rates;
}

}  // namespace tarry::app
