#include <tarry/projection.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tarry {
namespace {

using namespace std::chrono_literals;

Projection projected(const Forecast& forecast, const ProjectionOptions& options) {
  const auto projection = project(forecast, options);
  EXPECT_TRUE(projection) << (projection ? "" : projection.error().message);
  return projection ? *projection : Projection();
}

TEST(Projection, ABacklogDrainsAtTheRate) {
  const Projection got = projected({1min, 120, {0, 0, 0}, 0}, {.rate = 1});
  EXPECT_EQ(got.drained, 2min);
  EXPECT_EQ(got.clear, 2min);
  EXPECT_EQ(got.latest, 2min);
  EXPECT_EQ(got.latest_at, 2min);
  EXPECT_EQ(got.backlog, 0u);
  ASSERT_EQ(got.spans.size(), 3u);
  EXPECT_EQ(got.spans[0].backlog, 60u);
  EXPECT_EQ(got.spans[0].claimed, 60u);
  EXPECT_EQ(got.spans[0].late_last, 1min);
  EXPECT_EQ(got.spans[0].late_p50, 90s);
  EXPECT_EQ(got.spans[1].claimed, 60u);
  EXPECT_EQ(got.spans[2].claimed, 0u);
}

// 600 fall due within the first minute, 2 a second are claimed: 480 are left, and last 4 minutes.
TEST(Projection, ABurstMakesMessagesLate) {
  const Projection got = projected({1min, 0, {600, 60, 0, 0, 0, 0}, 0}, {.rate = 2});
  EXPECT_EQ(got.drained, 0ms);
  EXPECT_EQ(got.clear, 330s);
  EXPECT_EQ(got.spans[0].due, 600u);
  EXPECT_EQ(got.spans[0].claimed, 120u);
  EXPECT_EQ(got.spans[0].backlog, 480u);
  EXPECT_EQ(got.spans[0].late_p50, 2min);
  EXPECT_EQ(got.spans[0].late_last, 4min);
  EXPECT_EQ(got.spans[1].backlog, 420u);
  EXPECT_EQ(got.latest, 4min);
  EXPECT_EQ(got.latest_at, 5min);
  EXPECT_EQ(got.spans[5].backlog, 0u);
}

TEST(Projection, IsAheadOfItsSpansWhereTheBacklogLastsLonger) {
  const Projection got = projected({1s, 1'000, {0}, 0}, {.rate = 10, .arrivals = 5});
  EXPECT_EQ(got.backlog, 995u);
  EXPECT_EQ(got.drained, 200s);
  EXPECT_EQ(got.clear, 200s);
}

TEST(Projection, NeverDrainsWhereAsManyComeAsGo) {
  for (const double rate : {100.0, 120.0}) {
    const Projection got = projected({1min, 10, {0, 0}, 0}, {.rate = 100, .arrivals = rate});
    EXPECT_EQ(got.drained, std::nullopt);
    EXPECT_EQ(got.clear, std::nullopt);
    EXPECT_EQ(got.backlog, rate == 100 ? 10u : 2'410u);
    EXPECT_EQ(got.spans[0].due, static_cast<std::uint64_t>(rate) * 60);
  }
}

TEST(Projection, KeepsUpWhereAsManyComeAsGoAndNothingWaits) {
  const Projection got = projected({1min, 0, {0, 0}, 0}, {.rate = 0.1, .arrivals = 0.1});
  EXPECT_EQ(got.clear, 0ms);
  EXPECT_EQ(got.latest, 0ms);
}

TEST(Projection, TellsABacklogThatComesLaterFromTheFirst) {
  const Projection got = projected({1min, 60, {0, 0, 0, 600}, 0}, {.rate = 2});
  EXPECT_EQ(got.drained, 30s);
  EXPECT_EQ(got.clear, 3min + 300s);
}

TEST(Projection, WideSpansHaveTheSameFlow) {
  const Forecast forecast{1s, 3, {5, 0, 7, 1, 1, 1, 9}, 0};
  const ProjectionOptions fine{.rate = 2, .arrivals = 0.5};
  ProjectionOptions wide = fine;
  wide.span = 2s;
  wide.spans = 6;
  const Projection by_second = projected(forecast, fine);
  const Projection by_two = projected(forecast, wide);
  ASSERT_EQ(by_two.spans.size(), 6u);
  EXPECT_EQ(by_two.spans[0].due, by_second.spans[0].due + by_second.spans[1].due);
  EXPECT_EQ(by_two.spans[0].backlog, by_second.spans[1].backlog);
  EXPECT_EQ(by_two.spans[2].late_last, by_second.spans[5].late_last);
  EXPECT_EQ(by_two.clear, by_second.clear);
  EXPECT_EQ(by_two.latest, by_second.latest);
}

TEST(Projection, HugeFiguresEnd) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Projection got =
      projected({36'525 * 24h, most, std::vector<std::uint64_t>(100, most / 200), 0},
                {.rate = 0.001, .arrivals = 10'000'000});
  EXPECT_EQ(got.clear, std::nullopt);
  EXPECT_GT(got.latest, 1'000'000h);
}

TEST(Projection, RefusesWhatIsBeyondTheLimits) {
  const Forecast forecast{1min, 0, {0}, 0};
  const auto refused = [&](const ProjectionOptions& options, const char* names) {
    const auto projection = project(forecast, options);
    return !projection && projection.error().code == ErrorCode::invalid_argument &&
           projection.error().message.find(names) != std::string::npos;
  };
  EXPECT_TRUE(refused({.rate = 0}, "rate \"0"));
  EXPECT_TRUE(refused({.rate = -1}, "rate \"-1"));
  EXPECT_TRUE(refused({.rate = std::nan("")}, "rate"));
  EXPECT_TRUE(refused({.rate = 10'000'001}, "10000000"));
  EXPECT_TRUE(refused({.rate = 1, .arrivals = -1}, "arrivals \"-1"));
  EXPECT_TRUE(refused({.rate = 1, .span = 90s}, "span 90000ms"));
  EXPECT_TRUE(refused({.rate = 1, .span = -60s}, "span -60000ms"));
  EXPECT_TRUE(refused({.rate = 1, .spans = 10'001}, "spans 10001"));
  const auto later = project({1min, 0, {0}, 0, Time(1h)}, {.rate = 1});
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().message.find("`from`"), std::string::npos);
}

// Claims one message after the other, and sees each of them.
struct Simulated {
  std::vector<double> due;
  std::vector<double> claimed;

  Simulated(std::vector<double> times, double rate) : due(std::move(times)) {
    std::ranges::sort(due);
    double free = 0;
    for (const double time : due) {
      const double at = std::max(time, free);
      claimed.push_back(at);
      free = at + 1 / rate;
    }
  }
  [[nodiscard]] double backlog(double at) const {
    return static_cast<double>(std::ranges::upper_bound(due, at) - due.begin()) -
           static_cast<double>(std::ranges::upper_bound(claimed, at) - claimed.begin());
  }
  [[nodiscard]] double latest() const {
    double most = 0;
    for (std::size_t i = 0; i < due.size(); ++i) most = std::max(most, claimed[i] - due[i]);
    return most;
  }
  // The lateness that half of the messages due in the span do not exceed.
  [[nodiscard]] double late_p50(double from, double to) const {
    std::vector<double> late;
    for (std::size_t i = 0; i < due.size(); ++i) {
      if (due[i] > from && due[i] <= to) late.push_back(claimed[i] - due[i]);
    }
    if (late.empty()) return -1;
    std::ranges::nth_element(late, late.begin() + static_cast<std::ptrdiff_t>(late.size() / 2));
    return late[late.size() / 2];
  }
};

struct World {
  Forecast forecast;
  double rate = 1;
  double arrivals = 0;
  double width = 1;
};

World any_world() {
  World world;
  const auto size = *rc::gen::inRange<std::size_t>(1, 20);
  world.width = *rc::gen::inRange(1, 100);
  world.forecast.width = Millis(static_cast<std::int64_t>(world.width * 1000));
  world.forecast.due_now = *rc::gen::inRange<std::uint64_t>(0, 200);
  for (std::size_t i = 0; i < size; ++i) {
    world.forecast.buckets.push_back(*rc::gen::inRange<std::uint64_t>(0, 100));
  }
  world.rate = *rc::gen::inRange(1, 400) / 50.0;
  world.arrivals = *rc::gen::inRange(0, 100) / 50.0;
  return world;
}

std::vector<double> arrivals_of(const World& world) {
  std::vector<double> times(world.forecast.due_now, 0.0);
  const double end = world.width * static_cast<double>(world.forecast.buckets.size());
  if (world.arrivals > 0) {
    for (double at = 0.5 / world.arrivals; at <= end; at += 1 / world.arrivals) times.push_back(at);
  }
  return times;
}

RC_GTEST_PROP(Projection, is_what_happens_to_messages_that_come_evenly, ()) {
  const World world = any_world();
  std::vector<double> times = arrivals_of(world);
  for (std::size_t i = 0; i < world.forecast.buckets.size(); ++i) {
    const auto count = static_cast<double>(world.forecast.buckets[i]);
    for (double k = 0.5; k < count; ++k) {
      times.push_back((static_cast<double>(i) + k / count) * world.width);
    }
  }
  const Simulated happened(times, world.rate);
  const auto got = project(world.forecast, {.rate = world.rate, .arrivals = world.arrivals});
  RC_ASSERT(static_cast<bool>(got));
  const double late_s = 4 / world.rate;  // of four messages
  const auto near = [](double ours, double theirs, double off) {
    return std::abs(ours - theirs) <= off;
  };
  std::uint64_t waiting = world.forecast.due_now;
  for (std::size_t i = 0; i < got->spans.size(); ++i) {
    const ProjectedSpan& span = got->spans[i];
    const double end = static_cast<double>(i + 1) * world.width;
    RC_ASSERT(waiting + span.due == span.claimed + span.backlog);
    waiting = span.backlog;
    RC_ASSERT(near(static_cast<double>(span.backlog), happened.backlog(end), 4));
    RC_ASSERT(near(static_cast<double>(span.late_last.count()) / 1000,
                   happened.backlog(end) / world.rate, late_s));
    const double median = happened.late_p50(end - world.width, end);
    if (median >= 0 && span.due > 20) {
      // One message further, lateness changes by the distance of two messages.
      const double step = world.width / static_cast<double>(span.due);
      RC_ASSERT(near(static_cast<double>(span.late_p50.count()) / 1000, median, late_s + 2 * step));
    }
  }
  RC_ASSERT(near(static_cast<double>(got->latest.count()) / 1000, happened.latest(), late_s));
}

// The fluid differs from any order within the buckets by what one bucket has, twice.
RC_GTEST_PROP(Projection, is_off_by_no_more_than_a_bucket, ()) {
  const World world = any_world();
  std::vector<double> times = arrivals_of(world);
  for (std::size_t i = 0; i < world.forecast.buckets.size(); ++i) {
    for (std::uint64_t k = 0; k < world.forecast.buckets[i]; ++k) {
      const double place = *rc::gen::inRange(1, 1001) / 1000.0;
      times.push_back((static_cast<double>(i) + place) * world.width);
    }
  }
  const Simulated happened(times, world.rate);
  const auto got = project(world.forecast, {.rate = world.rate, .arrivals = world.arrivals});
  RC_ASSERT(static_cast<bool>(got));
  const auto most = static_cast<double>(std::ranges::max(world.forecast.buckets));
  for (std::size_t i = 0; i < got->spans.size(); ++i) {
    const double theirs = happened.backlog(static_cast<double>(i + 1) * world.width);
    RC_ASSERT(std::abs(static_cast<double>(got->spans[i].backlog) - theirs) <= 2 * most + 4);
  }
}

}  // namespace
}  // namespace tarry
