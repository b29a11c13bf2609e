// tarry forecast: how many messages fall due when, as a bar chart; and with --rate, when they are
// claimed.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/listing.h"
#include "app/commands/queues/rate_watch.h"
#include "app/pictures/forecast_chart.h"
#include "app/pictures/projection_text.h"
#include "core/engine.h"
#include "core/limits.h"
#include "core/reply.h"
#include "wire/forecast.h"

namespace tarry::app {
namespace {

constexpr std::size_t kRows = 20;
// The first forecast covers ten thousand hours, more than a year.
constexpr ForecastOptions kFar{std::chrono::hours(1), core::kMaxForecastBuckets};
// The second one covers ten thousand times five days, more than the 100 years that due times may be
// away. All chart widths for such a time are multiples of five days.
constexpr ForecastOptions kFarthest{std::chrono::hours(5 * 24), core::kMaxForecastBuckets};

struct ForecastWords {
  std::string queue;
  std::optional<Millis> width;
  std::optional<std::uint64_t> buckets;
  std::optional<Time> from;
  RateWords rates;

  [[nodiscard]] bool fits() const { return !width && !buckets && !from; }
};

// Forecasts everything, in buckets that are narrower than a row of twenty. The width comes from a
// coarse forecast. If everything is due within a few days, a finer forecast is made.
Result<Forecast> fine(const Queue& queue) {
  auto far = queue.forecast(kFar);
  if (far && far->later > 0) far = queue.forecast(kFarthest);
  if (!far) return far;
  const Millis horizon = horizon_of(*far);
  std::optional<ForecastOptions> finer;
  if (horizon <= std::chrono::hours(1)) {
    finer = ForecastOptions{std::chrono::seconds(1), 3'600};
  } else if (horizon <= std::chrono::hours(5 * 24)) {
    finer = ForecastOptions{std::chrono::minutes(1), 5 * 24 * 60};
  }
  return finer ? queue.forecast(*finer) : far;
}

// The width of which about twenty rows reach the horizon.
Millis row_width(const Forecast& forecast, Millis horizon) {
  return std::max(width_for(horizon, kRows), forecast.width);
}

Result<Forecast> fitting(const Queue& queue) {
  auto found = fine(queue);
  if (!found) return found;
  return widened(*found, row_width(*found, horizon_of(*found)));
}

Result<Forecast> forecast_of(const Queue& queue, const ForecastWords& words) {
  ForecastOptions options;
  options.width = words.width.value_or(options.width);
  options.buckets = static_cast<std::uint32_t>(words.buckets.value_or(kRows));
  options.from = words.from;
  return queue.forecast(options);
}

bool is_empty(const Forecast& forecast) {
  return forecast.due_now == 0 && forecast.later == 0 &&
         std::ranges::all_of(forecast.buckets, [](std::uint64_t count) { return count == 0; });
}

// With the flags' own spans, or with about twenty that reach the end of the last backlog.
Result<Foreseen> foresee(const Queue& queue, const ForecastWords& words, const Rates& rates) {
  auto found = words.fits() ? fine(queue) : forecast_of(queue, words);
  if (!found) return found.error();
  ProjectionOptions options{rates.claims, rates.arrivals, found->width, 0};
  auto projection = project(*found, options);
  if (!projection) return projection.error();
  if (words.fits()) {
    Millis horizon = horizon_of(*found);
    horizon = std::max<Millis>(horizon, projection->clear.value_or(std::chrono::hours(1)));
    options.span = row_width(*found, horizon);
    options.spans = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        (horizon + options.span - Millis(1)) / options.span, 1, std::int64_t{kRows}));
    projection = project(*found, options);
    if (!projection) return projection.error();
    found = widened(*found, options.span);
  }
  Foreseen foreseen{*std::move(found), options, *std::move(projection), std::nullopt};
  // The store's clock is this machine's, or not far from it, unless it is moved by hand.
  if (!queue.engine().capabilities().manual_clock) {
    foreseen.now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  }
  return foreseen;
}

ExitCode print_foreseen(Invocation& invocation, const Queue& queue, const ForecastWords& words) {
  Output& output = invocation.output;
  const auto rates = rates_of(queue, words.rates, output);
  if (!rates) return output.fail(rates.error());
  auto foreseen = foresee(queue, words, *rates);
  if (!foreseen) return output.fail(foreseen.error());
  const Forecast& forecast = foreseen->forecast;
  if (is_empty(forecast)) {
    if (const auto known = check_known(queue); !known) return output.fail(known.error());
  }
  if (output.json()) {
    output.print_line(wire::encode_forecast_reply(
        {forecast.due_now, forecast.buckets, forecast.later}, forecast.width,
        wire::Projected{foreseen->options, foreseen->projection}));
    return ExitCode::done;
  }
  output.print_line(projection_line(*foreseen));
  std::string text = projection_text(*foreseen, output.out().width());
  text.pop_back();
  output.print_line(text);
  return ExitCode::done;
}

ExitCode forecast(Invocation& invocation, const ForecastWords& words) {
  if (const auto wrong = check_rates(words.rates)) return invocation.output.usage(wrong->message);
  if (words.from && words.rates.rate) {
    return invocation.output.usage(
        "--from and --rate: give one of them; what is foreseen at a rate begins now");
  }
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(words.queue);
  if (words.rates.rate) return print_foreseen(invocation, queue, words);
  Result<Forecast> found = words.fits() ? fitting(queue) : forecast_of(queue, words);
  if (!found) return invocation.output.fail(found.error());
  if (is_empty(*found)) {
    if (const auto known = check_known(queue); !known) return invocation.output.fail(known.error());
  }
  if (invocation.output.json()) {
    const core::ForecastReply reply{found->due_now, found->buckets, found->later};
    invocation.output.print_line(wire::encode_forecast_reply(reply, found->width));
  } else {
    // If the user gave no number of rows, the chart ends with the last message.
    if (!words.buckets && found->later == 0) *found = widened(*found, found->width);
    std::string text = forecast_text(*found, invocation.output.out().width());
    text.pop_back();
    invocation.output.print_line(text);
  }
  return ExitCode::done;
}

}  // namespace

void add_forecast_command(CLI::App& root, Invocation& invocation) {
  const auto [command, words] = add_command(root, invocation, "forecast", forecast, R"(
Show how many messages fall due when, as a bar chart

Counts scheduled and ready messages, from now on. Without --width, --buckets and --from
it chooses the width that shows all of them in 20 rows. With --rate it shows when the
backlog is drained if consumers claim N messages a second, and how late messages come.

  tarry forecast orders
  tarry forecast orders --width 1h --buckets 24
  tarry forecast orders --width 1d --from 2030-01-01T00:00:00Z
  tarry forecast orders --rate 120 --arrivals none
  tarry forecast orders --rate lately --watch 30s
  tarry forecast orders -o json)");
  add_word(command, "QUEUE", words.queue, "The queue")->required();
  add_duration(command, "--width", words.width,
               "Time span of each row (default with --buckets: 1m)");
  add_number(command, "--buckets", words.buckets, 1, core::kMaxForecastBuckets,
             "Number of rows, 1 to 10000 (default with --width: 20)");
  add_time(command, "--from", words.from, "When the first row begins (default: now)");
  add_rates(command, words.rates);
}

}  // namespace tarry::app
