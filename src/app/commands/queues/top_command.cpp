// tarry top: shows a store's activity, again and again.
#include <algorithm>
#include <deque>
#include <memory>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "app/output/printable.h"
#include "app/output/screen.h"
#include "app/pictures/top_reading.h"
#include "base/text/text.h"
#include "open/server_call.h"
#include "open/urls/store_url.h"
#include "wire/parts/problem.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWindow = 10;  // rates and lateness are computed over this many readings
constexpr Millis kShortest{100};
constexpr Millis kLongest{3'600'000};

struct TopOptions {
  std::optional<std::string> queue;
  std::optional<Millis> interval;
  bool once = false;
};

Result<TopReading> read_store(const Store& store, const std::string& url,
                              const std::optional<std::string>& queue) {
  TopReading reading;
  if (queue) {
    auto stats = store.queue(*queue).stats();
    if (!stats) return std::move(stats).error();
    reading.queues.push_back(*std::move(stats));
  } else {
    auto stats = store.stats();
    if (!stats) return std::move(stats).error();
    reading.queues = std::move(stats->queues);
    reading.unreadable = std::move(stats->unreadable);
  }
  if (tools::is_server_url(url)) {
    const auto page = tools::call_server(url, "GET", "/metrics", {});
    if (!page) return page.error();
    if (page->status != 200) return wire::read_problem(page->status, page->body);
    reading.lateness = parse_lateness(page->body);
  }
  reading.at = std::chrono::steady_clock::now();
  return reading;
}

std::string picture(const std::string& url, const std::vector<TopRow>& rows, const Screen& screen) {
  const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  const std::size_t width = screen.width();
  std::string text = fmt::format("{}  {}", detail::masked_url(url), time_text(now));
  if (width > 0) text = clipped(text, width);
  text += "\n\n";
  text += rows.empty() ? "There are no queues.\n" : top_table(rows, width);
  return text;
}

// The exit code for queues that could not be read. The picture has shown the reasons.
ExitCode code_of_last(const TopReading& reading) {
  ExitCode code = ExitCode::done;
  for (const auto& queue : reading.unreadable) code = worst(code, exit_code(queue.error.code));
  return code;
}

ExitCode top(Invocation& invocation, const TopOptions& options) {
  Output& output = invocation.output;
  const Millis interval = options.interval.value_or(1s);
  if (interval < kShortest || interval > kLongest) {
    return output.usage(fmt::format("--interval {} is not from 100ms to 1h",
                                    base::format_duration_ms(interval.count())));
  }
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const std::string url = invocation.url();
  std::deque<TopReading> readings;
  auto first = read_store(*store, url, options.queue);
  if (!first) return output.fail(first.error());
  readings.push_back(*std::move(first));
  // One interval rarely has enough claims. So with --once, lateness is that of all claims since the
  // server's start.
  if (options.once) readings.front().lateness.clear();
  bool on_screen = false;
  std::optional<Error> failed;
  {
    Screen screen(!options.once && !output.json());
    on_screen = screen.is_whole();
    bool more = true;
    while (more) {
      const bool waits = options.once && readings.size() == 1;
      const TopReading* before = readings.size() > 1 ? &readings.front() : nullptr;
      const auto rows = top_rows(before, readings.back());
      if (!waits && output.json()) {
        output.print_json([&](wire::JsonWriter& json) { write_top(json, rows); });
        std::fflush(stdout);
      } else if (!waits) {
        screen.draw(picture(url, rows, screen));
      }
      if (options.once && !waits) break;
      if (screen.ends_within(interval)) break;
      auto next = read_store(*store, url, options.queue);
      if (!next) {
        failed = std::move(next).error();
        break;
      }
      readings.push_back(*std::move(next));
      if (readings.size() > kWindow + 1) readings.pop_front();
      more = std::ferror(stdout) == 0;
    }
  }
  if (failed) return output.fail(*failed);
  return on_screen ? ExitCode::done : code_of_last(readings.back());
}

}  // namespace

void add_top_command(CLI::App& root, Invocation& invocation) {
  const auto [command, options] = add_command(root, invocation, "top", top, R"(
Watch the queues; redrawn every second, q quits

PENDING counts scheduled and due messages. `?` means that the queue cannot be read; the
reason stands below the table. Rates and lateness cover the last ten intervals; `-`
means no data. With --once, lateness covers the time since the server started. Lateness
is the time from due to claim. A server counts it, for claims made through it, so it is
`-` unless the store is a server's URL (http:, https:). It is shown as a bound: half of the claims
(P50), or 99 % (P99), kept to it. If the output is not a terminal, each picture is
printed below the last one, and the exit code is 1 if the last picture has a queue that
cannot be read.

  tarry top
  tarry top orders --interval 5s
  tarry top --once -o json)");
  add_word(command, "QUEUE", options.queue, "Only this queue");
  add_duration(command, "--interval", options.interval,
               "Time between two pictures, 100ms to 1h (default: 1s)");
  command.add_flag("--once", options.once, "Print one picture after one interval, then end");
}

}  // namespace tarry::app
