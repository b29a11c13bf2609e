// tarry forecast: how many messages fall due when, as a bar chart.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/listing.h"
#include "app/pictures/forecast_chart.h"
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
};

// Forecasts everything in about twenty rows. The width comes from a coarse forecast. If everything
// is due within a few days, a finer forecast is made.
Result<Forecast> fitting(const Queue& queue) {
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
  if (!finer) return widened(*far, width_for(horizon, kRows));
  auto near = queue.forecast(*finer);
  if (!near) return near;
  const Millis width = width_for(horizon_of(*near), kRows);
  return widened(*near, std::max(width, finer->width));
}

bool is_empty(const Forecast& forecast) {
  return forecast.due_now == 0 && forecast.later == 0 &&
         std::ranges::all_of(forecast.buckets, [](std::uint64_t count) { return count == 0; });
}

ExitCode forecast(Invocation& invocation, const ForecastWords& words) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(words.queue);
  Result<Forecast> found = [&] {
    if (!words.width && !words.buckets) return fitting(queue);
    ForecastOptions options;
    options.width = words.width.value_or(options.width);
    options.buckets = static_cast<std::uint32_t>(words.buckets.value_or(kRows));
    return queue.forecast(options);
  }();
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

Counts scheduled and ready messages, from now on. Without --width and --buckets it
chooses the width that shows all of them in 20 rows.

  tarry forecast orders
  tarry forecast orders --width 1h --buckets 24
  tarry forecast orders -o json)");
  add_word(command, "QUEUE", words.queue, "The queue")->required();
  add_duration(command, "--width", words.width,
               "Time span of each row (default with --buckets: 1m)");
  add_number(command, "--buckets", words.buckets, 1, core::kMaxForecastBuckets,
             "Number of rows, 1 to 10000 (default with --width: 20)");
}

}  // namespace tarry::app
