#include <tarry/projection.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/figures/rate.h"
#include "core/limits.h"

namespace tarry {
namespace {

constexpr double kLongestMs = 9e15;  // JSON's numbers are exact up to here

Millis millis(double seconds) {
  return Millis(std::llround(std::clamp(seconds * 1000, 0.0, kLongestMs)));
}

// Above 2^53 a count is not exact anyway.
std::uint64_t whole(double count) {
  return static_cast<std::uint64_t>(std::llround(std::clamp(count, 0.0, kLongestMs)));
}

double seconds_of(Millis value) { return static_cast<double>(value.count()) / 1000; }

// The backlog as a fluid: messages come evenly through a span, and are claimed at a constant rate
// while any wait. So the backlog is linear in pieces, and a message waits for what is before it.
class Flow {
 public:
  Flow(double rate, double backlog) : rate_(rate), backlog_(backlog), latest_(backlog / rate) {
    latest_at_ = latest_;
  }

  // How late a message comes that falls due in the middle of the span, if it lasts `seconds` and
  // `count` messages fall due in it.
  [[nodiscard]] double late_in_middle(double seconds, double count) const {
    return std::max(0.0, backlog_ + (count - rate_ * seconds) / 2) / rate_;
  }

  void run(double seconds, double count) {
    const double growth = count - rate_ * seconds;
    double after = backlog_ + growth;
    // Sums of fractions are not exact; a trace of a backlog is none.
    if (after <= 1e-9 * (backlog_ + count + rate_ * seconds)) after = 0;
    if (backlog_ > 0 && after == 0) empty_at(at_ + seconds * backlog_ / std::max(-growth, 1e-300));
    at_ += seconds;
    backlog_ = after;
    if (late() > latest_) {
      latest_ = late();
      latest_at_ = at_ + latest_;
    }
  }

  // What follows after the last span, if `arrivals` come each second.
  void run_out(double arrivals) {
    if (backlog_ > 0 && rate_ > arrivals) empty_at(at_ + backlog_ / (rate_ - arrivals));
  }

  [[nodiscard]] double backlog() const { return backlog_; }
  [[nodiscard]] double late() const { return backlog_ / rate_; }
  [[nodiscard]] double latest() const { return latest_; }
  [[nodiscard]] double latest_at() const { return latest_at_; }
  [[nodiscard]] std::optional<double> first_empty() const { return first_empty_; }
  [[nodiscard]] double last_empty() const { return last_empty_; }

 private:
  void empty_at(double at) {
    if (!first_empty_) first_empty_ = at;
    last_empty_ = at;
  }

  const double rate_;
  double at_ = 0;
  double backlog_;
  double latest_;
  double latest_at_;
  std::optional<double> first_empty_;
  double last_empty_ = 0;
};

// A piece of a span: how many messages, and how late the one in the middle is.
using Weighed = std::pair<double, double>;

// The lateness that half of the messages do not exceed. Where no message falls due, each piece
// counts as one.
double median(std::vector<Weighed>& pieces) {
  double sum = 0;
  for (const auto& [late, weight] : pieces) sum += weight;
  if (sum == 0) {
    for (auto& piece : pieces) piece.second = 1;
    sum = static_cast<double>(pieces.size());
  }
  std::ranges::sort(pieces);
  double before = 0;
  for (const auto& [late, weight] : pieces) {
    before += weight;
    if (before * 2 >= sum) return late;
  }
  return pieces.back().first;
}

Result<void> check(const Forecast& forecast, const ProjectionOptions& options) {
  if (auto error = core::check_rate("rate", options.rate)) return *std::move(error);
  if (options.arrivals != 0) {
    if (auto error = core::check_rate("arrivals", options.arrivals)) return *std::move(error);
  }
  const std::int64_t width = forecast.width.count();
  if (width < 1 || width > core::kMaxDelayMs || forecast.buckets.size() > 10'000) {
    return Unexpected(ErrorCode::invalid_argument, "this is not a forecast that a queue made");
  }
  if (forecast.from) {
    return Unexpected(ErrorCode::invalid_argument,
                      "a projection begins now; its forecast must have no `from`");
  }
  const std::int64_t span = options.span.count();
  if (span < 0 || span > core::kMaxDelayMs * 10 || span % width != 0) {
    return Unexpected(ErrorCode::invalid_argument,
                      "span " + std::to_string(span) + "ms is not a multiple of the width " +
                          std::to_string(width) + "ms, or over 1000 years");
  }
  if (options.spans > core::kMaxForecastBuckets) {
    return Unexpected(ErrorCode::invalid_argument,
                      "spans " + std::to_string(options.spans) + " is more than 10000");
  }
  return {};
}

}  // namespace

Result<Projection> project(const Forecast& forecast, const ProjectionOptions& options) {
  if (const auto good = check(forecast, options); !good) return good.error();
  const auto each = std::max<std::size_t>(
      1, static_cast<std::size_t>(options.span.count() / forecast.width.count()));
  const std::size_t filled = (forecast.buckets.size() + each - 1) / each;
  const std::size_t spans = options.spans == 0 ? filled : options.spans;

  Flow flow(options.rate, static_cast<double>(forecast.due_now));
  Projection projection;
  projection.backlog = forecast.due_now;
  const double piece_s = seconds_of(forecast.width);
  double arrived = 0;
  const auto run = [&](double seconds, double due, std::vector<Weighed>& pieces) {
    const double count = due + options.arrivals * seconds;
    pieces.emplace_back(flow.late_in_middle(seconds, count), count);
    flow.run(seconds, count);
    arrived += options.arrivals * seconds;
  };
  for (std::size_t i = 0; i < spans; ++i) {
    ProjectedSpan span;
    std::vector<Weighed> pieces;
    const std::uint64_t before = whole(arrived);
    const std::size_t begin = std::min(i * each, forecast.buckets.size());
    const std::size_t end = std::min(begin + each, forecast.buckets.size());
    for (std::size_t k = begin; k < end; ++k) {
      run(piece_s, static_cast<double>(forecast.buckets[k]), pieces);
      span.due += forecast.buckets[k];
    }
    // Only arrivals come after the last bucket, evenly: one piece is exact.
    if (const std::size_t rest = each - (end - begin); rest > 0) {
      run(piece_s * static_cast<double>(rest), 0, pieces);
    }
    span.due += whole(arrived) - before;
    span.backlog = std::min(whole(flow.backlog()), projection.backlog + span.due);
    span.claimed = projection.backlog + span.due - span.backlog;
    span.late_p50 = millis(median(pieces));
    span.late_last = millis(flow.late());
    projection.backlog = span.backlog;
    projection.spans.push_back(span);
  }

  projection.latest = millis(flow.latest());
  projection.latest_at = millis(flow.latest_at());
  const bool waits = flow.backlog() > 0;
  flow.run_out(options.arrivals);
  if (forecast.due_now == 0) projection.drained = Millis(0);
  if (forecast.due_now > 0 && flow.first_empty()) projection.drained = millis(*flow.first_empty());
  const bool ends = options.rate > options.arrivals;
  if (!waits || ends) projection.clear = millis(flow.last_empty());
  return projection;
}

}  // namespace tarry
